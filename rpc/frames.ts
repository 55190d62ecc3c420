/** The frames of `stream.ts` and `upload.ts` as bytes: writing one, and reading them from chunks that are cut anywhere. */

import type { Bytes } from "@custos/core/bytes";
import { ByteReader } from "./byte_reader.ts";
import { RpcError } from "./rpc_error.ts";

/** Kinds of frames. */
export const KIND = { head: 1, body: 2, end: 3, error: 4, pending: 5, params: 6 } as const;

/** Most body bytes in one frame. */
export const MAX_BODY_FRAME_BYTES = 65_536;
/** Most bytes of a frame that is read as a whole: all but those of a body. */
export const MAX_JSON_FRAME_BYTES = 4_194_304;

const HEADER_BYTES = 5;

/** One frame. */
export function frame(kind: number, payload: Uint8Array): Bytes {
  const out = new Uint8Array(HEADER_BYTES + payload.length);
  out[0] = kind;
  new DataView(out.buffer).setUint32(1, payload.length);
  out.set(payload, HEADER_BYTES);
  return out;
}

/** What a frame says of itself. */
export interface FrameHeader {
  kind: number;
  length: number;
}

/**
 * Reads frames from a byte stream and holds one chunk of it at a time. After `next`, the payload is taken with `whole`
 * or piece by piece with `some`.
 */
export class FrameReader {
  readonly #source: ReadableStreamDefaultReader<Bytes>;
  readonly #bytes: ByteReader;
  #left = 0;

  constructor(source: ReadableStream<Bytes>) {
    this.#source = source.getReader();
    this.#bytes = new ByteReader(async () => (await this.#source.read()).value ?? null);
  }

  /** Whether a part of the current frame's payload has not been taken yet. */
  get inFrame(): boolean {
    return this.#left > 0;
  }

  /** The next frame's header; `null` where the source ends between two frames. Throws where a frame is too long. */
  async next(): Promise<FrameHeader | null> {
    const bytes = await this.#bytes.exactly(HEADER_BYTES);
    if (bytes === null) return null;
    const kind = bytes[0]!;
    const length = new DataView(bytes.buffer).getUint32(1);
    if (length > (kind === KIND.body ? MAX_BODY_FRAME_BYTES : MAX_JSON_FRAME_BYTES)) {
      throw new RpcError("outcome_unknown", "The daemon's answer holds a frame that is too long.");
    }
    this.#left = length;
    return { kind, length };
  }

  /** The whole payload of the current frame. */
  async whole(): Promise<Bytes> {
    const length = this.#left;
    this.#left = 0;
    return length === 0 ? new Uint8Array(0) : present(await this.#bytes.exactly(length));
  }

  /** The part of the current payload that is at hand; waits for at least one byte unless the frame is empty. */
  async some(): Promise<Bytes> {
    if (this.#left === 0) return new Uint8Array(0);
    const piece = present(await this.#bytes.some(this.#left));
    this.#left -= piece.length;
    return piece;
  }

  /** Gives the source up. */
  async cancel(reason: unknown): Promise<void> {
    await this.#source.cancel(reason).catch(() => {});
  }
}

function present(bytes: Bytes | null): Bytes {
  if (bytes === null) throw new TypeError("the stream ended inside a frame");
  return bytes;
}
