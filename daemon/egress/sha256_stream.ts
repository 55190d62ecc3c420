/**
 * SHA-256 of a stream (FIPS 180-4). WebCrypto hashes whole messages only, and a body of a gigabyte must not be held; the
 * tests compare this with WebCrypto. Used for public bytes only: the digest of an answer in receipts (DESIGN §6.5).
 */

const K: Int32Array = roundConstants();
const INITIAL: Int32Array = Int32Array.from([2, 3, 5, 7, 11, 13, 17, 19], (prime) => fractionBits(prime, 2n));
/** Scratch space: one compression never interrupts another. */
const WORDS: Int32Array = new Int32Array(64);

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

/** One running hash. */
export class Sha256Stream {
  readonly #state: Int32Array = INITIAL.slice();
  readonly #block: Uint8Array = new Uint8Array(64);
  #filled = 0;
  #length = 0;

  /** Adds bytes; they are not kept. */
  update(bytes: Uint8Array): void {
    this.#length += bytes.length;
    let at = 0;
    if (this.#filled > 0) {
      at = Math.min(64 - this.#filled, bytes.length);
      this.#block.set(bytes.subarray(0, at), this.#filled);
      this.#filled += at;
      if (this.#filled < 64) return;
      this.#compress(this.#block, 0);
      this.#filled = 0;
    }
    for (; at + 64 <= bytes.length; at += 64) this.#compress(bytes, at);
    this.#block.set(bytes.subarray(at), 0);
    this.#filled = bytes.length - at;
  }

  /** The digest of all that was added. Call once. */
  digest(): Uint8Array {
    const length = this.#length;
    const padding = new Uint8Array((this.#filled < 56 ? 64 : 128) - this.#filled);
    padding[0] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.length - 8, Math.floor(length / 2 ** 29));
    view.setUint32(padding.length - 4, length * 8 % 2 ** 32);
    this.update(padding);
    const out = new DataView(new ArrayBuffer(32));
    this.#state.forEach((word, i) => out.setInt32(i * 4, word));
    return new Uint8Array(out.buffer);
  }

  /** §6.2.2 for the 64 bytes at `at`. */
  #compress(bytes: Uint8Array, at: number): void {
    const w = WORDS;
    for (let i = 0, j = at; i < 16; i++, j += 4) {
      w[i] = (bytes[j]! << 24) | (bytes[j + 1]! << 16) | (bytes[j + 2]! << 8) | bytes[j + 3]!;
    }
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15]!;
      const y = w[i - 2]!;
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
    }
    const s = this.#state;
    let a = s[0]!, b = s[1]!, c = s[2]!, d = s[3]!, e = s[4]!, f = s[5]!, g = s[6]!, h = s[7]!;
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i]! + w[i]!) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    s[0] = s[0]! + a;
    s[1] = s[1]! + b;
    s[2] = s[2]! + c;
    s[3] = s[3]! + d;
    s[4] = s[4]! + e;
    s[5] = s[5]! + f;
    s[6] = s[6]! + g;
    s[7] = s[7]! + h;
  }
}
