/** A stand-in for the daemon over a real unix socket, for the tests of the MCP server as a process. */

import { newId } from "@custos/core/ids";
import type { HttpResult } from "@custos/rpc/http_schemas";
import type { MethodName } from "@custos/rpc/methods";
import type { AccessStatusResult } from "@custos/rpc/request_schemas";
import { dispatchText, type Handlers } from "@custos/rpc/server";
import { placesIn } from "@custos/tools/paths";
import type { Values } from "@custos/tools/permissions";

/** Functions of the daemon; the signal says that the caller has left. */
export type Fake = Partial<Handlers<AbortSignal>>;

/** Three words for tests. */
export const WORDS = "rocket velvet oasis";

/** A stand-in for the daemon, on its own socket. */
export interface Daemon extends AsyncDisposable {
  values: Values;
  calls: { method: MethodName; params: Record<string, unknown> }[];
}

/** Starts a stand-in with a folder and a socket of its own. */
export async function daemon(fake: Fake): Promise<Daemon> {
  const folder = await Deno.makeTempDir({ prefix: "custos-mcp-" });
  const values = placesIn(folder, { profile: "lan" });
  await Deno.mkdir(values.socket.slice(0, values.socket.lastIndexOf("/")), { mode: 0o700 });
  const calls: Daemon["calls"] = [];
  const stop = new AbortController();
  const server = Deno.serve(
    { path: values.socket, transport: "unix", onListen() {}, signal: stop.signal },
    async (request) => {
      const text = await request.text();
      const { method, params } = JSON.parse(text);
      calls.push({ method, params });
      return Response.json(await dispatchText(fake, text, request.signal));
    },
  );
  return {
    values,
    calls,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await server.finished;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** A state of a request, with these changes. */
export function status(change: Partial<AccessStatusResult> = {}): AccessStatusResult {
  return {
    request_id: newId(),
    fingerprint: WORDS,
    type: "access",
    status: "pending",
    expires_ms: 1_900_000_000_000,
    delivery: "sent",
    ...change,
  };
}

/** An answer of an API, with these changes. */
export function answer(body: string, more: Partial<HttpResult> = {}): HttpResult {
  return {
    request_id: newId(),
    fingerprint: WORDS,
    status_code: 200,
    headers: [["content-type", "text/plain"]],
    body,
    body_encoding: "utf8",
    truncated: false,
    redactions: 0,
    received_bytes: body.length,
    ...more,
  };
}

/** The structured content of a tool's result. */
export const fieldsOf = (result: unknown): Record<string, unknown> =>
  (result as { structuredContent: Record<string, unknown> }).structuredContent;
