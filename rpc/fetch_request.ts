/** From what `fetch` is called with to the params of `http.request`. */

import { concat, fromUtf8, toBase64 } from "@custos/core/bytes";
import type { HeaderPair, HttpBody } from "./http_schemas.ts";
import { MAX_REQUEST_BODY_BYTES, MAX_UPLOAD_BYTES } from "./limits.ts";
import { RpcError } from "./rpc_error.ts";

/** A body as a call takes it: whole where it is small, else as a stream. */
export interface OutgoingBody {
  body?: HttpBody;
  upload?: ReadableStream<Uint8Array>;
}

/** Headers about the connection: custos has its own, as every `fetch` has (Fetch standard, forbidden request-headers). */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The headers that go on, without the ones that custos sets. Any other that it does not allow is refused by name. */
export function outgoingHeaders(headers: Headers, replaced: readonly string[]): HeaderPair[] {
  const dropped = new Set(replaced.map((name) => name.toLowerCase()));
  return [...headers].filter(([name]) => !OF_THE_CONNECTION.has(name) && !dropped.has(name));
}

/**
 * Reads up to 1 MiB, and leaves a larger body in the stream, which is read once while the call is made. The stream errors
 * with `body_too_large` above 64 MiB.
 */
export async function outgoingBody(source: ReadableStream<Uint8Array> | null): Promise<OutgoingBody> {
  if (source === null) return {};
  const reader = source.getReader();
  const read = async () => {
    try {
      return await reader.read();
    } catch {
      // its text is the caller's own and may hold anything
      throw new RpcError("bad_request", "The request body could not be read to its end. Nothing was sent.");
    }
  };
  const parts: Uint8Array[] = [];
  let size = 0;
  while (size <= MAX_REQUEST_BODY_BYTES) {
    const { done, value } = await read();
    if (done) return size === 0 ? {} : { body: inJson(concat(...parts)) };
    parts.push(value);
    size += value.length;
  }
  let sent = 0;
  const upload = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const held = parts.shift();
      const { done, value } = held === undefined ? await read() : { done: false, value: held };
      if (done) return controller.close();
      sent += value!.length;
      if (sent > MAX_UPLOAD_BYTES) {
        await reader.cancel();
        throw new RpcError("body_too_large", "The request body has more than 64 MiB. Nothing was sent.");
      }
      controller.enqueue(value!);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
  return { upload };
}

function inJson(bytes: Uint8Array): HttpBody {
  try {
    return { encoding: "utf8", data: fromUtf8(bytes) };
  } catch {
    return { encoding: "base64", data: toBase64(bytes) };
  }
}
