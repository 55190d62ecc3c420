/** The body of a request as it was when the request was made: what is approved is what is sent (B143). */

import { type Bytes, toBase64url } from "@custos/core/bytes";
import { sha256 } from "@custos/core/labels";
import { sha256 as sha256Now } from "@noble/hashes/sha2.js";

/** Bytes of a body's beginning that are kept for the card. */
export const HEAD_BYTES = 65_536;

/** The body of a request, fixed. */
export interface FixedBody {
  readonly size: number;
  /** SHA-256 of all of it, as base64url. */
  readonly sha256: string;
  /** Its beginning, at most {@link HEAD_BYTES}; for the card. */
  readonly head: Bytes;
  /** Throws `storage` unless the body is still what it was. */
  check(): Promise<void>;
  /** What to send, once: `null` where it is empty. */
  content(): Bytes | ReadableStream<Bytes> | null;
  /** Lets go of it; its file is deleted. A second call changes nothing. */
  dispose(): void;
}

/** Up to this many bytes the way to WebCrypto and back takes longer than hashing here. */
const SHORT_BYTES = 4_096;

const EMPTY_SHA256 = toBase64url(sha256Now(new Uint8Array(0)));

/** A body that is in memory. */
export async function memoryBody(bytes: Bytes): Promise<FixedBody> {
  return {
    size: bytes.length,
    sha256: await hashOf(bytes),
    head: bytes.subarray(0, HEAD_BYTES),
    check: async () => {},
    content: () => bytes.length === 0 ? null : bytes,
    dispose: () => {},
  };
}

async function hashOf(bytes: Bytes): Promise<string> {
  if (bytes.length === 0) return EMPTY_SHA256;
  return toBase64url(bytes.length <= SHORT_BYTES ? sha256Now(bytes) : await sha256(bytes));
}
