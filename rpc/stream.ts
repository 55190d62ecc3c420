/**
 * The streaming form of `http.request`: `POST /http` with the params as JSON, or as the frames of `upload.ts` where the
 * request has a large body, answered with `application/vnd.custos.stream`, a sequence of frames
 * `[kind: 1 byte][length: 4 bytes, big-endian][payload]`:
 *
 * | kind | payload |
 * |---|---|
 * | 5 | pending: JSON of `StreamPending`; at most one, first: the call waits for the person |
 * | 1 | head: JSON of `StreamHead`; exactly one, before any body |
 * | 2 | body bytes, at most 64 KiB |
 * | 3 | end: JSON of `StreamEnd`; last |
 * | 4 | error: JSON-RPC error object; last |
 *
 * A stream that stops without 3 or 4 was cut, and its outcome is unknown (B82). Both sides hold one frame or chunk at a
 * time, so 1 GB takes no more memory than 1 KB. An error before the first frame is an ordinary JSON-RPC response.
 */

import { type Bytes, fromUtf8, utf8 } from "@custos/core/bytes";
import { decodeResult } from "./decode.ts";
import { frame, type FrameHeader, FrameReader, KIND, MAX_BODY_FRAME_BYTES } from "./frames.ts";
import {
  STREAM_END,
  STREAM_HEAD,
  STREAM_PENDING,
  type StreamEnd,
  type StreamHead,
  type StreamPending,
} from "./http_schemas.ts";
import { type JsonRpcErrorResponse, RpcError } from "./rpc_error.ts";

/** Content type of a stream of frames. */
export const STREAM_TYPE = "application/vnd.custos.stream";

/**
 * The frames of an answer. `end` is called once the body has been read to its end. A body that throws, or an `end` that
 * throws, becomes an error frame; cancelling the frames cancels the body.
 */
export function encodeStream(
  head: StreamHead,
  body: ReadableStream<Uint8Array>,
  end: () => StreamEnd | Promise<StreamEnd>,
): ReadableStream<Bytes> {
  if (decodeResult(STREAM_HEAD, head) === null) {
    throw new RpcError(
      "outcome_unknown",
      "The daemon made a head of http.request that does not have the agreed form. This is a bug in custos. " +
        "The request may have been sent: look at custos log before you try again.",
    );
  }
  const reader = body.getReader();
  let rest: Uint8Array = new Uint8Array(0);
  return new ReadableStream<Bytes>({
    start: (controller) => controller.enqueue(frame(KIND.head, utf8(JSON.stringify(head)))),
    async pull(controller) {
      try {
        while (rest.length === 0) {
          const { done, value } = await reader.read();
          if (done) {
            controller.enqueue(frame(KIND.end, utf8(JSON.stringify(await end()))));
            return controller.close();
          }
          rest = value;
        }
        controller.enqueue(frame(KIND.body, rest.subarray(0, MAX_BODY_FRAME_BYTES)));
        rest = rest.subarray(MAX_BODY_FRAME_BYTES);
      } catch (error) {
        const about = RpcError.from(error).withRequest(head.request_id, head.fingerprint);
        controller.enqueue(frame(KIND.error, utf8(JSON.stringify(about.toErrorObject()))));
        controller.close();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/** The HTTP response of the daemon's streaming route. */
export function streamResponse(
  head: StreamHead,
  body: ReadableStream<Uint8Array>,
  end: () => StreamEnd | Promise<StreamEnd>,
): Response {
  return new Response(encodeStream(head, body, end), { headers: { "content-type": STREAM_TYPE } });
}

/** The HTTP response of the streaming route for an error before the head. */
export function streamErrorResponse(error: unknown): Response {
  const response: JsonRpcErrorResponse = RpcError.from(error).toJsonRpc(null);
  return Response.json(response);
}

/** A streamed answer at the client. */
export interface StreamedHttp {
  head: StreamHead;
  /** The body. It errors with an `RpcError` that names the request: an error frame, or `outcome_unknown` if it was cut. */
  body: ReadableStream<Bytes>;
  /** What the daemon said at the end. Throws `internal` until `body` has been read to its end. */
  end(): StreamEnd;
}

/** Hears of the request that a call waits for. The stream is read on when it has resolved. */
export type OnPending = (pending: StreamPending) => void | Promise<void>;

/**
 * Reads frames. Throws `outcome_unknown` where the head does not decode, or the error that came in its place.
 * Cancelling `body` cancels `source`, and with it the upstream request.
 */
export async function decodeStream(
  source: ReadableStream<Bytes>,
  onPending: OnPending = () => {},
): Promise<StreamedHttp> {
  const frames = new FrameReader(source);
  const head = await readHead(frames, onPending);
  const lost = (why: string) => unknown(why).withRequest(head.request_id, head.fingerprint);
  let end: StreamEnd | null = null;

  async function step(): Promise<Bytes | null> {
    const header = await frames.next();
    if (header === null) throw lost("The answer was cut off before its end.");
    if (header.kind === KIND.body) return await frames.some();
    const payload = await frames.whole();
    if (header.kind === KIND.error) {
      throw errorOf(payload) ?? lost("The error at the answer's end is malformed.");
    }
    const decoded = header.kind === KIND.end ? decodeResult(STREAM_END, parse(payload)) : null;
    if (decoded === null) throw lost("A part of the answer does not have the agreed form.");
    if (await frames.next() !== null) throw lost("Something follows the answer's end.");
    end = decoded;
    return null;
  }

  const body = new ReadableStream<Bytes>({
    async pull(controller) {
      try {
        const bytes = frames.inFrame ? await frames.some() : await step();
        if (bytes === null) return controller.close();
        controller.enqueue(bytes);
      } catch (error) {
        await frames.cancel(error);
        const known = error instanceof RpcError ? error : lost("The line to the daemon broke.");
        controller.error(known.withRequest(head.request_id, head.fingerprint));
      }
    },
    cancel: (reason) => frames.cancel(reason),
  }, { highWaterMark: 0 });

  return {
    head,
    body,
    end() {
      if (end === null) {
        throw new RpcError("internal", "The end of an answer was asked for before it was read.");
      }
      return end;
    },
  };
}

async function readHead(frames: FrameReader, onPending: OnPending): Promise<StreamHead> {
  try {
    let header = await frames.next();
    if (header === null) throw unknown("The daemon's answer is empty.");
    if (header.kind === KIND.pending) {
      const pending = decodeResult(STREAM_PENDING, parse(await frames.whole()));
      if (pending === null) throw unknown("What the daemon waits for does not have the agreed form.");
      await onPending(pending);
      header = await next(frames, pending);
    }
    const payload = await frames.whole();
    if (header.kind === KIND.error) throw errorOf(payload) ?? unknown("The daemon's error is malformed.");
    const head = header.kind === KIND.head ? decodeResult(STREAM_HEAD, parse(payload)) : null;
    if (head === null) throw unknown("The head of the answer does not have the agreed form.");
    return head;
  } catch (error) {
    await frames.cancel(error);
    throw error instanceof RpcError ? error : unknown("The line to the daemon broke.");
  }
}

/** The frame after the pending one. A line that breaks here may break after the approval, so the request is named. */
async function next(frames: FrameReader, { request_id, fingerprint }: StreamPending): Promise<FrameHeader> {
  const header = await frames.next().catch(() => null);
  if (header !== null) return header;
  throw unknown("The line to the daemon broke while the answer was waited for.")
    .withRequest(request_id, fingerprint);
}

function errorOf(payload: Uint8Array): RpcError | null {
  return RpcError.fromJsonRpc(parse(payload));
}

function parse(payload: Uint8Array): unknown {
  try {
    return JSON.parse(fromUtf8(payload));
  } catch {
    return undefined;
  }
}

function unknown(why: string): RpcError {
  return new RpcError(
    "outcome_unknown",
    `${why} The request may have been sent, and custos does not send it again: look at custos log before you do.`,
  );
}
