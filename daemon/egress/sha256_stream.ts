/**
 * SHA-256 of a stream (FIPS 180-4). WebCrypto hashes whole messages only, and a body of a gigabyte must not be held; the
 * tests compare this with WebCrypto. Used for public bytes only: the digest of an answer in receipts (DESIGN §6.5).
 */

import { concat } from "@custos/core/bytes";
import { sha256 } from "@custos/core/labels";
import { sha256 as sha256Now } from "@noble/hashes/sha2.js";
import { BLOCKS_AT, BLOCKS_BYTES, type Sha256Code, sha256Code, STATE_AT } from "./sha256_code.ts";

const K: Int32Array = roundConstants();
/** §5.3.3. In the order of bytes of WebAssembly, which is that of every machine that Deno runs on. */
const INITIAL: Int32Array<ArrayBuffer> = Int32Array.from(
  [2, 3, 5, 7, 11, 13, 17, 19],
  (prime) => fractionBits(prime, 2n),
);

/** Fractional parts of the cube roots of the first 64 primes (§4.2.2), computed rather than copied. */
function roundConstants(): Int32Array {
  const constants = new Int32Array(64);
  let count = 0;
  for (let candidate = 2; count < 64; candidate++) {
    let prime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor++) prime &&= candidate % divisor !== 0;
    if (prime) constants[count++] = fractionBits(candidate, 3n);
  }
  return constants;
}

/** The first 32 bits of the fraction of the `degree`-th root of `value`, by integer bisection. */
function fractionBits(value: number, degree: bigint): number {
  const target = BigInt(value) << (32n * degree);
  let low = 0n;
  let high = BigInt(value) << 32n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** degree <= target) low = middle;
    else high = middle;
  }
  return Number(low & 0xffffffffn) | 0;
}

/** One instance for all streams of a thread: a call of `update` is never interrupted by another. */
let shared: { code: Sha256Code; state: Uint8Array; blocks: Uint8Array } | null = null;

function open(): NonNullable<typeof shared> {
  if (shared !== null) return shared;
  const code = sha256Code(K);
  const { buffer } = code.memory;
  return shared = {
    code,
    state: new Uint8Array(buffer, STATE_AT, 32),
    blocks: new Uint8Array(buffer, BLOCKS_AT, BLOCKS_BYTES),
  };
}

/** Longest message that is kept and hashed whole, in bytes. */
const SHORT_BYTES = 65_536;
/** Up to this many bytes the way to WebCrypto and back takes longer than hashing here. */
const TINY_BYTES = 4_096;

/** One running hash. */
export class Sha256Stream {
  readonly #state: Uint8Array = new Uint8Array(INITIAL.buffer.slice(0));
  readonly #block: Uint8Array = new Uint8Array(64);
  #filled = 0;
  #length = 0;
  /** A short message as it is: WebCrypto takes that, and the code above need not be made for it. */
  #short: Uint8Array[] | null = [];

  /** Adds bytes; more than {@link SHORT_BYTES} are not kept. */
  update(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#short === null) return this.#add(bytes);
    if (this.#length <= SHORT_BYTES) return void this.#short.push(bytes.slice());
    for (const early of this.#short) this.#add(early);
    this.#short = null;
    this.#add(bytes);
  }

  #add(bytes: Uint8Array): void {
    let at = 0;
    if (this.#filled > 0) {
      at = Math.min(64 - this.#filled, bytes.length);
      this.#block.set(bytes.subarray(0, at), this.#filled);
      this.#filled += at;
      if (this.#filled < 64) return;
      this.#compress(this.#block);
      this.#filled = 0;
    }
    const whole = at + Math.floor((bytes.length - at) / 64) * 64;
    if (whole > at) this.#compress(bytes.subarray(at, whole));
    this.#block.set(bytes.subarray(whole), 0);
    this.#filled = bytes.length - whole;
  }

  /** The digest of all that was added. Call once. */
  async digest(): Promise<Uint8Array> {
    if (this.#short !== null) {
      const message = concat(...this.#short);
      return this.#length <= TINY_BYTES ? sha256Now(message) : await sha256(message);
    }
    const length = this.#length;
    const padding = new Uint8Array((this.#filled < 56 ? 64 : 128) - this.#filled);
    padding[0] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.length - 8, Math.floor(length / 2 ** 29));
    view.setUint32(padding.length - 4, length * 8 % 2 ** 32);
    this.#add(padding);
    const words = new DataView(this.#state.buffer);
    const out = new DataView(new ArrayBuffer(32));
    for (let i = 0; i < 32; i += 4) out.setInt32(i, words.getInt32(i, true));
    return new Uint8Array(out.buffer);
  }

  /** Takes in whole blocks. */
  #compress(bytes: Uint8Array): void {
    const { code, state, blocks } = open();
    state.set(this.#state);
    for (let at = 0; at < bytes.length; at += BLOCKS_BYTES) {
      const part = bytes.subarray(at, at + BLOCKS_BYTES);
      blocks.set(part);
      code.compress(part.length / 64);
    }
    this.#state.set(state);
  }
}
