/** The answer of the daemon's streaming route to a call that may have to wait for the person first (DESIGN §9). */

import { type Bytes, utf8 } from "@custos/core/bytes";
import { frame, KIND } from "./frames.ts";
import type { StreamEnd, StreamHead, StreamPending } from "./http_schemas.ts";
import { RpcError } from "./rpc_error.ts";
import { encodeStream, STREAM_TYPE, streamErrorResponse, streamResponse } from "./stream.ts";

/** What `encodeStream` takes. */
export interface StreamSource {
  head: StreamHead;
  body: ReadableStream<Uint8Array>;
  end: () => StreamEnd | Promise<StreamEnd>;
}

/**
 * The response to a call. Where `pending` resolves before `source` settles, a frame says so at once, and what comes later
 * follows in the same stream; `onLeave` is called where the caller leaves in between. Never rejects.
 */
export async function streamReply(
  source: Promise<StreamSource>,
  pending: Promise<StreamPending>,
  onLeave: () => void,
): Promise<Response> {
  const settled = source.then(() => null, () => null);
  const waits = await Promise.race([settled, pending]);
  if (waits === null) {
    try {
      const { head, body, end } = await source;
      return streamResponse(head, body, end);
    } catch (error) {
      return streamErrorResponse(error);
    }
  }
  let left = false;
  let rest: ReadableStreamDefaultReader<Bytes> | null = null;
  const frames = new ReadableStream<Bytes>({
    start: (controller) => controller.enqueue(frame(KIND.pending, utf8(JSON.stringify(waits)))),
    async pull(controller) {
      if (rest === null) {
        try {
          const { head, body, end } = await source;
          rest = encodeStream(head, body, end).getReader();
        } catch (error) {
          if (left) return;
          controller.enqueue(frame(KIND.error, utf8(JSON.stringify(RpcError.from(error).toErrorObject()))));
          return controller.close();
        }
      }
      if (left) return await rest.cancel();
      const { done, value } = await rest.read();
      if (left) return;
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel(reason) {
      left = true;
      onLeave();
      await rest?.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(frames, { headers: { "content-type": STREAM_TYPE } });
}
