/**
 * The one client of the daemon's socket, for the CLI and the MCP server. It never sends a call twice: each call has a
 * connection of its own (`unix_http.ts`), and there is no retry. An answer that is lost or does not decode is `outcome_unknown` where the call may have acted, and a loud `internal` where it only read.
 */

import { fromUtf8 } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import { type Schema, shape } from "@custos/core/schema";
import * as z from "zod/mini";
import { decodeParams, decodeResult } from "./decode.ts";
import type { HttpParams } from "./http_schemas.ts";
import { DEFAULT_WAIT_MS, MAX_REPLY_BYTES } from "./limits.ts";
import { loadMethod } from "./method_loader.ts";
import { ACTS, type MethodName, type Params, type Result } from "./method_types.ts";
import { RpcError } from "./rpc_error.ts";
import type { OnPending, StreamedHttp } from "./stream.ts";
import { ConnectFailed, type Exchange, postUnix } from "./unix_http.ts";

/** The part of `fetch` that stands in for the socket in tests. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** Where the daemon is. */
export interface ClientOptions {
  /** Path of the daemon's unix socket. */
  socket: string;
  /** In place of an exchange over that socket (tests). */
  fetch?: FetchLike;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call; the promise then rejects with the signal's reason. The daemon sees the caller leave. */
  signal?: AbortSignal;
}

/** Options of a streamed call. */
export interface StreamOptions extends CallOptions {
  /** The request body, where it is too large for `params`. It is read once, while the call is made, and never again. */
  body?: ReadableStream<Uint8Array>;
  /** Hears at once of the request that the person is asked about, while the call waits. */
  onPending?: OnPending;
}

/** How much longer than its own wait a call may take before the daemon counts as not answering, in milliseconds. */
const PATIENCE_MS = 30_000;

interface Reply {
  jsonrpc: "2.0";
  id: number | null;
  result?: unknown;
  error?: unknown;
}
const REPLY: Schema<Reply> = shape<Reply>({
  jsonrpc: z.literal("2.0") as unknown as Schema<"2.0">,
  id: z.union([z.null(), z.literal(1)]) as unknown as Schema<number | null>,
  result: z.optional(z.unknown()) as unknown as Schema<unknown>,
  error: z.optional(z.unknown()) as unknown as Schema<unknown>,
});

/** A connection to one daemon. Cheap to make; nothing is opened before the first call. */
export class Client implements Disposable {
  readonly #socket: string;
  readonly #send: (exchange: Exchange) => Promise<Response>;
  readonly #closing = new AbortController();

  constructor(options: ClientOptions) {
    this.#socket = options.socket;
    const { socket, fetch } = options;
    this.#send = fetch === undefined
      ? (exchange) => postUnix(socket, exchange)
      : ({ path, body, signal }) => fetch(`http://custos.invalid${path}`, { method: "POST", body, signal });
  }

  /**
   * Calls a method. Throws an `RpcError`: what the daemon answered, `bad_request` for params that do not fit,
   * `daemon_unreachable`, and `outcome_unknown` or `internal` for an answer that is lost or does not decode.
   */
  async call<M extends MethodName>(
    method: M,
    params: Params<M>,
    options: CallOptions = {},
  ): Promise<Result<M>> {
    const schemas = await loadMethod(method);
    const checked = decodeParams<Params<M>>(schemas.params, params, method);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: checked });
    const lost = (why: string) => lostAnswer(method, why);
    const waits = new Deadline(options.signal, deadlineOf(method, checked));
    try {
      const response = await this.#post("/rpc", { body }, waits.signal, lost);
      return readReply(schemas.result, await readText(response, lost), lost);
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      throw waits.passed ? lost("The daemon did not answer in time.") : error;
    } finally {
      waits.clear();
    }
  }

  /**
   * `http.request` with bodies that stream in constant memory. Throws as `call` does, and what `options.body` throws, in
   * which case nothing was sent; after the head, the answer's `body` errors in the same way. `signal` ends the body too,
   * and the daemon then gives the upstream request up.
   */
  async streamHttp(params: HttpParams, options: StreamOptions = {}): Promise<StreamedHttp> {
    const { decodeStream, STREAM_TYPE } = await import("./stream.ts");
    const { HTTP_RESULT, HTTP_STREAM_PARAMS } = await import("./http_schemas.ts");
    const text = JSON.stringify(decodeParams(HTTP_STREAM_PARAMS, params, "http.request"));
    const lost = (why: string) => lostAnswer("http.request", why);
    let sent: Pick<Exchange, "body" | "type"> = { body: text };
    if (options.body !== undefined) {
      const { encodeUpload } = await import("./upload.ts");
      sent = { body: encodeUpload(text, options.body), type: STREAM_TYPE };
    }
    const response = await this.#post("/http", sent, options.signal, lost);
    if (response.headers.get("content-type") === STREAM_TYPE && response.body !== null) {
      try {
        return await decodeStream(response.body, options.onPending);
      } catch (error) {
        throw options.signal?.aborted ? options.signal.reason : error;
      }
    }
    readReply(HTTP_RESULT, await readText(response, lost), lost);
    throw lost("The daemon answered without a stream.");
  }

  /** Ends every call that is still open. */
  close(): void {
    this.#closing.abort(new DOMException("The client was closed.", "AbortError"));
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #post(
    path: string,
    sent: Pick<Exchange, "body" | "type">,
    signal: AbortSignal | undefined,
    lost: (why: string) => RpcError,
  ): Promise<Response> {
    const closing = this.#closing.signal;
    const either = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    try {
      return await this.#send({ path, ...sent, signal: either });
    } catch (error) {
      if (either.aborted) throw either.reason;
      if (error instanceof ConnectFailed) throw unreachable(this.#socket, error.cause);
      if (error instanceof CustosError) throw error; // of the caller's own body, which is then incomplete
      throw lost("The line to the daemon broke before it answered.");
    }
  }
}

/** What to do where connecting failed. Nothing was sent. */
function unreachable(socket: string, cause: unknown): RpcError {
  const error = (why: string) => new RpcError("daemon_unreachable", why);
  if (cause instanceof Deno.errors.NotCapable) {
    return error(
      `This process may not open the socket ${socket}: it was started for another one. ` +
        "Start it with the permission for this path, or leave --socket and CUSTOS_SOCKET out.",
    );
  }
  const start =
    "so the daemon is not running there. Start it, or name its socket with --socket or CUSTOS_SOCKET.";
  if (cause instanceof Deno.errors.NotFound) return error(`There is no socket ${socket}, ${start}`);
  if (cause instanceof Deno.errors.ConnectionRefused) {
    return error(`Nobody answers at the socket ${socket}, ${start}`);
  }
  if (cause instanceof Deno.errors.PermissionDenied) {
    return error(`The socket ${socket} belongs to another user. Ask as the user whose daemon it is.`);
  }
  return error(`The socket ${socket} cannot be opened. A path of a socket has at most 103 bytes.`); // B184
}

function lostAnswer(method: MethodName, why: string): RpcError {
  if (!ACTS[method]) return new RpcError("internal", `${why} ${method} only reads, so nothing was changed.`);
  return new RpcError(
    "outcome_unknown",
    `${why} ${method} may have happened, and custos does not send it again: look at custos log before you do.`,
  );
}

function readReply<T>(schema: Schema<T>, text: string, lost: (why: string) => RpcError): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw lost("The daemon's answer is not JSON.");
  }
  const reply = decodeResult(REPLY, value);
  if (reply === null || (reply.result === undefined) === (reply.error === undefined)) {
    throw lost("The daemon's answer is not a JSON-RPC response.");
  }
  if (reply.error !== undefined) {
    throw RpcError.fromJsonRpc(reply.error) ?? lost("The daemon's error does not have the agreed form.");
  }
  const result = decodeResult(schema, reply.result);
  if (result === null) throw lost("The daemon's result does not have the agreed form.");
  return result;
}

/** The text of a reply, bounded: a broken daemon must not fill the memory of its clients (B75). */
async function readText(response: Response, lost: (why: string) => RpcError): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of response.body ?? []) {
      size += part.length;
      if (size > MAX_REPLY_BYTES) throw lost("The daemon's answer is too long.");
      parts.push(part);
    }
    return fromUtf8(new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer()));
  } catch (error) {
    throw error instanceof RpcError ? error : lost("The daemon's answer was cut off.");
  }
}

/** Milliseconds after which a call is given up; `null` for `http.request`, whose time the daemon bounds. */
function deadlineOf(method: MethodName, params: object): number | null {
  if (method === "http.request") return null;
  const wait = (params as { wait_ms?: number }).wait_ms ?? DEFAULT_WAIT_MS;
  return wait + PATIENCE_MS;
}

/** A caller's signal with a time limit whose timer is cleared when the call ends. */
class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout> | null;
  readonly signal: AbortSignal;
  passed = false;

  constructor(outer: AbortSignal | undefined, ms: number | null) {
    this.signal = outer === undefined
      ? this.#controller.signal
      : AbortSignal.any([outer, this.#controller.signal]);
    this.#timer = ms === null ? null : setTimeout(() => {
      this.passed = true;
      this.#controller.abort();
    }, ms);
  }

  clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
