/**
 * One HTTP/1.1 exchange over a unix socket (RFC 9112), on a connection of its own that is never used again.
 *
 * Not the runtime's `fetch`, for four reasons (measured on Deno 2.9.6): it asks the system's resolver for the host name of
 * the URL at every call, although a socket is given (calls stalled for 5 s while a resolver did not answer, and whoever
 * answers DNS learns of each call); it needs net permission for that host beside the socket; it re-sends on a kept
 * connection that closes early; and its errors do not say by code whether anything was sent. `Deno.connect` has none of
 * these, and a refused connect is then the one case in which nothing was sent.
 */

import { concat, utf8 } from "@custos/core/bytes";
import { ByteReader } from "./byte_reader.ts";

/** Longest line of a response head, and most lines. The daemon sends few and short ones. */
const MAX_LINE_BYTES = 16_384;
const MAX_HEADERS = 100;
const READ_BYTES = 65_536;

/** Connecting failed, so nothing was sent. `cause` is the runtime's error. */
export class ConnectFailed extends Error {
  override readonly name: string = "ConnectFailed";
}

/** Sends `body` to `path`: JSON, or a stream of frames, which is let go of once an answer is there. */
export interface Exchange {
  path: string;
  body: string | ReadableStream<Uint8Array>;
  /** Of a stream; JSON where it is left out. */
  type?: string;
  signal?: AbortSignal;
}

/**
 * Posts and returns the response as soon as its head is there; the body streams. Throws {@link ConnectFailed}, the
 * signal's reason, or another error where the request may have been sent. The connection closes with the body's end, its
 * cancellation, or the signal.
 */
export async function postUnix(socket: string, exchange: Exchange): Promise<Response> {
  const { path, body, type = "application/json", signal } = exchange;
  signal?.throwIfAborted();
  const connection = await connect(socket);
  const close = () => {
    signal?.removeEventListener("abort", close);
    try {
      connection.close();
    } catch {
      // closed already
    }
  };
  signal?.addEventListener("abort", close);
  if (signal?.aborted) close();
  const source = typeof body === "string" ? null : body.getReader();
  let broken: { reason: unknown } | null = null;
  try {
    const content = typeof body === "string" ? utf8(body) : null;
    const framing = content === null ? "Transfer-Encoding: chunked" : `Content-Length: ${content.length}`;
    const head = utf8(
      `POST ${path} HTTP/1.1\r\nHost: custos.invalid\r\nContent-Type: ${type}\r\n${framing}\r\n` +
        "Connection: close\r\n\r\n",
    );
    const write = async () => {
      await writeAll(connection, content === null ? head : concat(head, content));
      if (source === null) return;
      await writeChunks(connection, source, (reason) => {
        broken = { reason };
        close(); // a source that failed must not look like a body that ended
      });
    };
    // a daemon that refuses a long call may answer before it has read it all: the answer counts, not the broken pipe
    const written = write().catch((error) => error);
    const reader = new ByteReader(async () => {
      const buffer = new Uint8Array(READ_BYTES);
      const count = await connection.read(buffer);
      return count === null ? null : buffer.subarray(0, count);
    });
    const { status, headers } = await readHead(reader);
    if (source === null) await written;
    else source.cancel().catch(() => {});
    return new Response(bodyStream(reader, headers, close, signal), { status, headers });
  } catch (error) {
    close();
    source?.cancel(error).catch(() => {});
    if (signal?.aborted) throw signal.reason;
    throw (broken as { reason: unknown } | null)?.reason ?? error;
  }
}

async function connect(socket: string): Promise<Deno.UnixConn> {
  try {
    return await Deno.connect({ transport: "unix", path: socket });
  } catch (cause) {
    throw new ConnectFailed("connecting failed", { cause });
  }
}

async function writeAll(connection: Deno.UnixConn, bytes: Uint8Array): Promise<void> {
  let rest = bytes;
  while (rest.length > 0) rest = rest.subarray(await connection.write(rest));
}

/** The chunked coding of RFC 9112 §7.1. `failed` hears what `source` throws. */
async function writeChunks(
  connection: Deno.UnixConn,
  source: ReadableStreamDefaultReader<Uint8Array>,
  failed: (reason: unknown) => void,
): Promise<void> {
  for (;;) {
    const { done, value } = await source.read().catch((reason) => {
      failed(reason);
      throw reason;
    });
    if (done) return await writeAll(connection, utf8("0\r\n\r\n"));
    if (value.length === 0) continue;
    await writeAll(connection, concat(utf8(`${value.length.toString(16)}\r\n`), value, utf8("\r\n")));
  }
}

async function readHead(reader: ByteReader): Promise<{ status: number; headers: Headers }> {
  const match = /^HTTP\/1\.1 ([2-5]\d\d) /.exec(await reader.line(MAX_LINE_BYTES));
  if (match === null) throw new TypeError("the response has no status line of HTTP/1.1");
  const headers = new Headers();
  for (let count = 0; count <= MAX_HEADERS; count++) {
    const line = await reader.line(MAX_LINE_BYTES);
    if (line === "") return { status: Number(match[1]), headers };
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim()); // throws where the name is not a token
  }
  throw new TypeError("the response has too many headers");
}

/** The body by the framing of RFC 9112 §6.3; a cut body errors, and is never taken for a short one (B82). */
function bodyStream(
  reader: ByteReader,
  headers: Headers,
  close: () => void,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const coding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (coding !== null && (coding !== "chunked" || length !== null)) {
    throw new TypeError("the response is framed in two ways");
  }
  if (length !== null && !/^\d{1,15}$/.test(length)) throw new TypeError("the response has no valid length");
  let left = length === null ? 0 : Number(length);
  let first = true;

  /** How many bytes may be read next; 0 at the end. */
  async function room(): Promise<number> {
    if (coding === null) return length === null ? READ_BYTES : left;
    if (left > 0) return left;
    if (!first && await reader.line(0) !== "") throw new TypeError("a chunk does not end where it says");
    first = false;
    const size = /^([0-9a-f]{1,8})$/i.exec(await reader.line(64));
    if (size === null) throw new TypeError("a chunk has no valid size");
    left = parseInt(size[1]!, 16);
    if (left === 0 && await reader.line(0) !== "") throw new TypeError("trailers are not expected");
    return left;
  }

  return new ReadableStream({
    async pull(controller) {
      try {
        const max = await room();
        const piece = max === 0 ? null : await reader.some(max);
        if (piece === null) {
          if (max > 0 && (coding !== null || length !== null)) {
            throw new TypeError("the response was cut off");
          }
          close();
          return controller.close();
        }
        left -= piece.length;
        controller.enqueue(piece);
      } catch (error) {
        close();
        controller.error(signal?.aborted ? signal.reason : error);
      }
    },
    cancel: close,
  }, { highWaterMark: 0 });
}
