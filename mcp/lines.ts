/**
 * Bytes from a pipe, cut into lines. The cut is made on bytes and the text is decoded a whole line at a time, so that a
 * character over the border of two reads stays whole (B93). A line that is too long or not UTF-8 costs that line only.
 */

/** Longest line that is read, in bytes: room for a 4 MiB body in base64 and everything around it. */
export const MAX_LINE_BYTES = 8_388_608;

/** One line, or why it could not be read. */
export type Line =
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "too_long" }
  | { readonly kind: "not_utf8" };

const NEWLINE = 0x0a;

/** Takes bytes as they come and gives back the lines that they complete. */
export class LineSplitter {
  readonly #max: number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #parts: Uint8Array[] = [];
  #length = 0;
  #skipping = false;

  /** `max` is the longest line in bytes, without its end. */
  constructor(max: number = MAX_LINE_BYTES) {
    this.#max = max;
  }

  /** The lines completed by `chunk`, in order. The bytes of an unfinished one are copied and kept. */
  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      const part = chunk.subarray(start, end === -1 ? chunk.length : end);
      this.#keep(part);
      if (end === -1) return lines;
      lines.push(this.#finish());
      start = end + 1;
    }
  }

  /** The last line, if the stream ended inside one. */
  flush(): Line[] {
    return this.#length === 0 && !this.#skipping ? [] : [this.#finish()];
  }

  #keep(part: Uint8Array): void {
    if (this.#skipping || part.length === 0) return;
    if (this.#length + part.length > this.#max) {
      this.#skipping = true;
      this.#parts = [];
      this.#length = 0;
      return;
    }
    this.#parts.push(part.slice());
    this.#length += part.length;
  }

  #finish(): Line {
    const bytes = new Uint8Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    const skipped = this.#skipping;
    this.#parts = [];
    this.#length = 0;
    this.#skipping = false;
    if (skipped) return { kind: "too_long" };
    try {
      // the decoder drops a byte order mark at the start of a line, which some shells write (B86)
      return { kind: "line", text: this.#decoder.decode(bytes) };
    } catch {
      return { kind: "not_utf8" };
    }
  }
}
