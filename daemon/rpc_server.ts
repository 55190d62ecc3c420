/**
 * The daemon's door: a Hono app on a unix socket. Whoever can open the socket can ask; nobody can see a secret through it
 * (SECURITY.md says what that means for a program of the same user).
 */

import { Hono } from "@hono/hono";
import { asCustosError, CustosError } from "@custos/core/errors";
import type { StreamPending } from "@custos/rpc/http_schemas";
import { MAX_CALL_BYTES } from "@custos/rpc/limits";
import { dispatchText, readStreamParams } from "@custos/rpc/server";
import { STREAM_TYPE } from "@custos/rpc/stream";
import { streamReply, type StreamSource } from "@custos/rpc/stream_reply";
import { decodeUpload } from "@custos/rpc/upload";
import type { Daemon } from "./daemon.ts";
import { type CallContext, handlersOf } from "./handlers.ts";
import { type HttpExtras, sendHttp } from "./http_calls.ts";
import { ensurePrivateFolder } from "./state_folder.ts";

/** The app. `onUnexpected` hears of faults whose text must not travel. */
export function rpcApp(daemon: Daemon, onUnexpected: (error: unknown, where: string) => void): Hono {
  const handlers = handlersOf(daemon);
  const app = new Hono();
  app.post("/rpc", async (c) => {
    const request = c.req.raw;
    const body = await boundedText(request);
    if (body === null) return c.text("The call is too large.", 413);
    const context: CallContext = { signal: request.signal };
    return c.json(await dispatchText(handlers, body, context, onUnexpected));
  });
  app.post("/http", (c) => streamedHttp(daemon, c.req.raw, onUnexpected));
  return app;
}

/** How long answers that are on their way may take when the door closes, in milliseconds. */
const CLOSE_MS = 300;

/** A running door. */
export interface Door {
  close(): Promise<void>;
}

/**
 * Listens on a unix socket, in a folder that only this user can enter (B174). A socket that was left behind by a daemon
 * that died is removed; one that answers is another daemon's (B182). Throws `storage` or `locked`.
 */
export async function openDoor(socket: string, app: Hono): Promise<Door> {
  ensurePrivateFolder(socket.slice(0, socket.lastIndexOf("/")) || "/");
  await removeStale(socket);
  const ended = new AbortController();
  const server = Deno.serve({
    path: socket,
    transport: "unix",
    signal: ended.signal,
    onListen: () => {},
    onError: () => new Response("Something failed inside the daemon.", { status: 500 }),
  }, app.fetch);
  return {
    async close() {
      // Calls that have just been answered get their answer; whatever still goes on after a moment is cut.
      const timer = setTimeout(() => ended.abort(), CLOSE_MS);
      server.shutdown().catch(() => {});
      await server.finished;
      clearTimeout(timer);
    },
  };
}

async function removeStale(socket: string): Promise<void> {
  try {
    Deno.lstatSync(socket);
  } catch {
    return;
  }
  try {
    (await Deno.connect({ transport: "unix", path: socket })).close();
  } catch {
    Deno.removeSync(socket);
    return;
  }
  throw new CustosError(
    "locked",
    `Another daemon listens on ${socket} already. Stop it, or use another socket.`,
  );
}

/** The streaming form of `http.request`, with its body in the params or as an upload. */
async function streamedHttp(
  daemon: Daemon,
  request: Request,
  onUnexpected: (error: unknown, where: string) => void,
): Promise<Response> {
  const pending = Promise.withResolvers<StreamPending>();
  const left = new AbortController();
  const leave = () => left.abort();
  request.signal.addEventListener("abort", leave, { once: true });
  const call = async (): Promise<StreamSource> => {
    const upload = request.headers.get("content-type") === STREAM_TYPE && request.body !== null;
    const { params: text, body } = upload
      ? await decodeUpload(request.body)
      : { params: await boundedText(request) ?? tooLarge(), body: null };
    const params = readStreamParams(text);
    const extras: HttpExtras = { onPending: pending.resolve };
    if (body !== null) extras.take = (max) => daemon.spool.take(body, max);
    const maxBytes = params.max_bytes ?? Number.MAX_SAFE_INTEGER;
    const { request_id, fingerprint, response } = await sendHttp(
      daemon,
      params,
      maxBytes,
      left.signal,
      extras,
    );
    const head = { request_id, fingerprint, status_code: response.status, headers: response.headers };
    const end = async () => {
      const { truncated, redactions, received_bytes } = await response.finished;
      return { truncated, redactions, received_bytes };
    };
    return { head, body: response.body, end };
  };
  const source = call().catch((error) => {
    if (!(error instanceof CustosError)) onUnexpected(error, "http.request");
    throw asCustosError(error);
  });
  return await streamReply(source, pending.promise, leave);
}

function tooLarge(): never {
  throw new CustosError("bad_request", "The call is too large. Nothing was sent.");
}

/** The body of a call, or `null` above the limit, counted as it comes and not as it says. */
async function boundedText(request: Request): Promise<string | null> {
  // the server holds a body to the length that it declares, and reads it in one go several times faster
  const declared = request.headers.get("content-length");
  if (declared !== null) return Number(declared) > MAX_CALL_BYTES ? null : await request.text();
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MAX_CALL_BYTES) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
