/**
 * Frames: what the relay carries. A frame has a clear head, which says how to find the key, and an AES-256-GCM body. The
 * head and the direction are authenticated with it (DESIGN §7).
 *
 *     session    1 | 3 | channel 16 | session 16 | sequence 8 | nonce 12 | ciphertext
 *     handshake  1 | 1 or 2 | channel 16 | session 16 | generation 8 | nonce 12 | ciphertext
 */

import { type Bytes, concat, randomBytes } from "./bytes.ts";
import { CustosError } from "./errors.ts";

/** Which way a frame goes. */
export type Direction = "to_phone" | "to_daemon";
/** What a frame is: a daemon's offer of a session, the phone's acceptance, or a message of a session. */
export type FrameKind = "offer" | "accept" | "session";

/** The clear part of a frame. `number` is the sequence of a message, or the generation of a handshake. */
export interface FrameHead {
  kind: FrameKind;
  /** 16 bytes. */
  channel: Bytes;
  /** 16 bytes. */
  session: Bytes;
  number: number;
}

/**
 * Plaintexts are padded to these sizes, in bytes, so that a length says little. The last one holds a drop of 64 KiB, and its
 * frame fits the 128 KiB of the relay.
 */
export const PADDED_BYTES: readonly number[] = [256, 1_024, 4_096, 16_384, 65_536, 130_944];
/** Longest message before padding: the largest size less its 4-byte length. */
export const MAX_PLAINTEXT_BYTES = 130_940;

const HEAD_BYTES = 42;
const NONCE_BYTES = 12;
const KINDS: readonly FrameKind[] = ["offer", "accept", "session"];

/** Seals a plaintext. `key` is an AES-GCM key of this direction only. Throws `body_too_large`. */
export async function sealFrame(
  key: CryptoKey,
  direction: Direction,
  head: FrameHead,
  plaintext: Uint8Array,
): Promise<Bytes> {
  const headBytes = encodeHead(head);
  const nonce = randomBytes(NONCE_BYTES);
  const params = { name: "AES-GCM", iv: nonce, additionalData: additionalData(headBytes, direction) };
  const sealed = new Uint8Array(await crypto.subtle.encrypt(params, key, pad(plaintext)));
  return concat(headBytes, nonce, sealed);
}

/** The head of a frame, unauthenticated: it only says which key to try. `null` if this is not a frame. */
export function readHead(frame: Uint8Array): FrameHead | null {
  const kind = KINDS[(frame[1] ?? 0) - 1];
  if (frame.length < HEAD_BYTES + NONCE_BYTES + 16 || frame[0] !== 1 || kind === undefined) return null;
  const number = new DataView(frame.buffer, frame.byteOffset, frame.byteLength).getBigUint64(34);
  if (number > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  return {
    kind,
    channel: frame.slice(2, 18),
    session: frame.slice(18, 34),
    number: Number(number),
  } as FrameHead;
}

/** Opens a frame. `null` if key, direction, head or any bit of it is not right: there is one refusal, without reasons. */
export async function openFrame(
  key: CryptoKey,
  direction: Direction,
  frame: Uint8Array,
): Promise<Bytes | null> {
  if (readHead(frame) === null) return null;
  const head = Uint8Array.from(frame.subarray(0, HEAD_BYTES));
  const iv = Uint8Array.from(frame.subarray(HEAD_BYTES, HEAD_BYTES + NONCE_BYTES));
  const params = { name: "AES-GCM", iv, additionalData: additionalData(head, direction) };
  try {
    const body = Uint8Array.from(frame.subarray(HEAD_BYTES + NONCE_BYTES));
    return unpad(new Uint8Array(await crypto.subtle.decrypt(params, key, body)));
  } catch {
    return null;
  }
}

/** Imports 32 bytes as a key for {@link sealFrame} and {@link openFrame}; not extractable. */
export async function frameKey(bytes: Bytes): Promise<CryptoKey> {
  return await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
}

function encodeHead(head: FrameHead): Bytes {
  const bytes = new Uint8Array(HEAD_BYTES);
  bytes[0] = 1;
  bytes[1] = KINDS.indexOf(head.kind) + 1;
  bytes.set(head.channel, 2);
  bytes.set(head.session, 18);
  new DataView(bytes.buffer).setBigUint64(34, BigInt(head.number));
  return bytes;
}

function additionalData(head: Uint8Array, direction: Direction): Bytes {
  return concat(head, Uint8Array.of(direction === "to_phone" ? 1 : 2));
}

function pad(plaintext: Uint8Array): Bytes {
  const size = PADDED_BYTES.find((bytes) => bytes >= plaintext.length + 4);
  if (size === undefined) {
    throw new CustosError(
      "body_too_large",
      `A message to the phone holds at most ${MAX_PLAINTEXT_BYTES} bytes.`,
    );
  }
  const out = new Uint8Array(size);
  new DataView(out.buffer).setUint32(0, plaintext.length);
  out.set(plaintext, 4);
  return out;
}

function unpad(padded: Bytes): Bytes | null {
  if (!PADDED_BYTES.includes(padded.length)) return null;
  const length = new DataView(padded.buffer).getUint32(0);
  return length <= padded.length - 4 ? padded.slice(4, 4 + length) : null;
}
