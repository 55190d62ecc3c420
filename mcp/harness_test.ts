/** What the tests of this folder share: a daemon made of functions behind the real rpc client, and a real MCP client. */

import assert from "node:assert/strict";
import { Client as McpClient } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { newId } from "@custos/core/ids";
import { Client } from "@custos/rpc/client";
import type { HttpResult } from "@custos/rpc/http_schemas";
import type { MethodName } from "@custos/rpc/methods";
import type { AccessStatusResult } from "@custos/rpc/request_schemas";
import { dispatchText, type Handlers } from "@custos/rpc/server";
import * as z from "zod";
import { createServer, TOOLS } from "./server.ts";

/** Functions of the daemon; the signal says that the caller has left. */
export type Fake = Partial<Handlers<AbortSignal>>;

/** One result of a tool, as a client sees it. */
export interface Seen {
  isError: boolean;
  fields: Record<string, unknown>;
  texts: string[];
}

/** One open session. */
export interface Session extends AsyncDisposable {
  readonly client: McpClient;
  /** Every call that the daemon got. */
  readonly calls: { method: MethodName; params: Record<string, unknown> }[];
  /** Calls a tool and checks its result against the tool's own output schema, errors included (B97). */
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<Seen>;
}

/** Options that a test needs of the MCP client. */
export interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: { progress: number; message?: string }) => void;
}

/** Three words for tests. */
export const WORDS = "rocket velvet oasis";

/** A result of `access.status` for a request with these changes. */
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

/** An answer of an API with these changes. */
export function answer(change: Partial<HttpResult> = {}): HttpResult {
  return {
    request_id: newId(),
    fingerprint: WORDS,
    status_code: 200,
    headers: [["content-type", "application/json"]],
    body: '{"ok":true}',
    body_encoding: "utf8",
    truncated: false,
    redactions: 0,
    received_bytes: 11,
    ...change,
  };
}

/** Opens a session. `mangle` changes replies on their way, as a broken daemon would. */
export async function session(
  fake: Fake,
  options: { agent?: string; mangle?: (reply: string) => string } = {},
): Promise<Session> {
  const calls: Session["calls"] = [];
  const daemon = new Client({
    socket: "/nowhere",
    fetch: async (_url, init) => {
      const body = String(init.body);
      const { method, params } = JSON.parse(body);
      calls.push({ method, params });
      const gone = Promise.withResolvers<never>();
      init.signal?.addEventListener("abort", () => gone.reject(init.signal!.reason));
      const work = dispatchText(fake, body, init.signal ?? new AbortController().signal);
      const reply = JSON.stringify(await Promise.race([work, gone.promise]));
      return new Response(options.mangle?.(reply) ?? reply);
    },
  });
  const [left, right] = InMemoryTransport.createLinkedPair();
  const server = createServer({ daemon, agent: options.agent ?? null });
  const client = new McpClient({ name: "test client", version: "1.2.3" });
  await Promise.all([server.connect(right), client.connect(left)]);
  return {
    client,
    calls,
    async call(name, args, more = {}) {
      const result = await client.callTool({ name, arguments: args }, more);
      const schema = TOOLS.find((tool) => tool.name === name)!.outputSchema;
      const checked = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(
        result.structuredContent,
      );
      assert.ok(checked.success, `${name}: ${checked.error?.message}`);
      const blocks = result.content as { type: string; text?: string }[];
      return {
        isError: result.isError === true,
        fields: result.structuredContent as Record<string, unknown>,
        texts: blocks.map((block) => block.text ?? ""),
      };
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await server.close();
    },
  };
}
