/** Reads lines and pieces from chunks that are cut anywhere, holding one chunk at a time. */

import { type Bytes, fromUtf8 } from "@custos/core/bytes";

/** Gives the next chunk, in memory that nobody writes again; `null` at the end. */
export type NextChunk = () => Promise<Bytes | null>;

/** A source of bytes, taken as lines or pieces. */
export class ByteReader {
  readonly #next: NextChunk;
  #chunk: Bytes = new Uint8Array(0);

  constructor(next: NextChunk) {
    this.#next = next;
  }

  /** Waits until a byte is at hand; `false` at the end of the source. */
  async fill(): Promise<boolean> {
    while (this.#chunk.length === 0) {
      const next = await this.#next();
      if (next === null) return false;
      this.#chunk = next;
    }
    return true;
  }

  /** What is at hand, at most `max` bytes and at least one, not copied; `null` at the end of the source. */
  async some(max: number): Promise<Bytes | null> {
    if (!await this.fill()) return null;
    const piece = this.#chunk.subarray(0, max);
    this.#chunk = this.#chunk.subarray(piece.length);
    return piece;
  }

  /** Exactly `length` bytes; `null` where the source ends before the first. Throws `TypeError` where it ends within. */
  async exactly(length: number): Promise<Bytes | null> {
    const out = new Uint8Array(length);
    let at = 0;
    while (at < length) {
      const piece = await this.some(length - at);
      if (piece === null && at === 0) return null;
      if (piece === null) throw new TypeError("the source ended too early");
      out.set(piece, at);
      at += piece.length;
    }
    return out;
  }

  /** A line that ends with CR LF, without it, at most `max` bytes. Throws `TypeError` on any other ending. */
  async line(max: number): Promise<string> {
    const bytes: number[] = [];
    while (bytes.length <= max) {
      if (!await this.fill()) break;
      const end = this.#chunk.indexOf(10);
      const piece = this.#chunk.subarray(0, end < 0 ? this.#chunk.length : end + 1);
      if (bytes.length + piece.length > max + 2) break;
      bytes.push(...piece);
      this.#chunk = this.#chunk.subarray(piece.length);
      if (end < 0) continue;
      if (bytes.at(-2) !== 13) break;
      return fromUtf8(Uint8Array.from(bytes.slice(0, -2)));
    }
    throw new TypeError("a line is missing, too long or badly ended");
  }
}
