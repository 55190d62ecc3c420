/** A request body from stdin: whole where it is small, else a stream that is uploaded while it is read (DESIGN §9). */

import { concat, fromUtf8, toBase64 } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import type { HttpBody } from "@custos/rpc/http_schemas";
import { MAX_REQUEST_BODY_BYTES, MAX_UPLOAD_BYTES } from "@custos/rpc/limits";

/** One of both. */
export interface InputBody {
  body?: HttpBody;
  upload?: ReadableStream<Uint8Array>;
}

/** Reads up to 1 MiB, and leaves a larger body in the stream. The stream errors with `body_too_large` above 64 MiB. */
export async function stdinBody(stdin: ReadableStream<Uint8Array>): Promise<InputBody> {
  const reader = stdin.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  while (size <= MAX_REQUEST_BODY_BYTES) {
    const { done, value } = await reader.read();
    if (done) return { body: inJson(concat(...parts)) };
    parts.push(value);
    size += value.length;
  }
  let sent = 0;
  const upload = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const held = parts.shift();
      const { done, value } = held === undefined ? await reader.read() : { done: false, value: held };
      if (done) return controller.close();
      sent += value!.length;
      if (sent > MAX_UPLOAD_BYTES) {
        await reader.cancel();
        throw new CustosError("body_too_large", "The body on stdin has more than 64 MiB. Nothing was sent.");
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
