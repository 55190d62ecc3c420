/**
 * The upload form of a streamed `http.request`: `POST /http` with content type `application/vnd.custos.stream` and the
 * frames of `stream.ts`, for a request body that is too large for a JSON call (DESIGN §9):
 *
 * | kind | payload |
 * |---|---|
 * | 6 | params: the JSON of `HttpParams` without `body`; exactly one, first |
 * | 2 | bytes of the request body, at most 64 KiB |
 * | 3 | end: empty; last |
 *
 * An upload without its end was cut: nothing of it is ever sent (B82). Both sides hold one frame or chunk at a time.
 */

import { type Bytes, fromUtf8, utf8 } from "@custos/core/bytes";
import { frame, FrameReader, KIND, MAX_BODY_FRAME_BYTES } from "./frames.ts";
import { RpcError } from "./rpc_error.ts";

/** Most frames of an upload that hold nothing: a caller must not keep the daemon busy for free. */
const MAX_EMPTY_FRAMES = 64;

/** The frames of a call with a large body. Cancelling them cancels the body; a body that throws ends them without an end. */
export function encodeUpload(params: string, body: ReadableStream<Uint8Array>): ReadableStream<Bytes> {
  const reader = body.getReader();
  let rest: Uint8Array = new Uint8Array(0);
  return new ReadableStream<Bytes>({
    start: (controller) => controller.enqueue(frame(KIND.params, utf8(params))),
    async pull(controller) {
      while (rest.length === 0) {
        const { done, value } = await reader.read();
        if (done) {
          controller.enqueue(frame(KIND.end, new Uint8Array(0)));
          return controller.close();
        }
        rest = value;
      }
      controller.enqueue(frame(KIND.body, rest.subarray(0, MAX_BODY_FRAME_BYTES)));
      rest = rest.subarray(MAX_BODY_FRAME_BYTES);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/** A call with a large body, at the daemon. */
export interface Upload {
  /** The JSON of the params, not checked yet. */
  params: string;
  /** The request body. Errors with `bad_request` where it was cut; nothing may be sent then. */
  body: ReadableStream<Bytes>;
}

/** Reads the frames of an upload up to its body. Throws `bad_request`. */
export async function decodeUpload(source: ReadableStream<Bytes>): Promise<Upload> {
  const frames = new FrameReader(source);
  let params: string;
  try {
    const header = await frames.next();
    if (header?.kind !== KIND.params) throw new TypeError("the first frame must be the params");
    params = fromUtf8(await frames.whole());
  } catch (error) {
    await frames.cancel(error);
    throw broken();
  }
  let empty = 0;
  const body = new ReadableStream<Bytes>({
    async pull(controller) {
      try {
        while (!frames.inFrame) {
          const header = await frames.next();
          if (header?.kind === KIND.end && header.length === 0 && await frames.next() === null) {
            return controller.close();
          }
          if (header?.kind !== KIND.body || (header.length === 0 && ++empty > MAX_EMPTY_FRAMES)) {
            throw broken();
          }
        }
        controller.enqueue(await frames.some());
      } catch (error) {
        await frames.cancel(error);
        controller.error(broken());
      }
    },
    cancel: (reason) => frames.cancel(reason),
  }, { highWaterMark: 0 });
  return { params, body };
}

function broken(): RpcError {
  return new RpcError(
    "bad_request",
    "The upload was cut or does not have the agreed form. Nothing was sent, and nobody was asked.",
  );
}
