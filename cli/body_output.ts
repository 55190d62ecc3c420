/**
 * A body on stdout. Into a file or pipe it goes byte for byte; on a terminal, characters that move the cursor, write the
 * clipboard or hide text are shown as `\u{…}` (B103, B104), and binary is not shown at all.
 */

import { displaySafe } from "@custos/core/display";
import type { Io } from "./io.ts";

/** Writes chunks as they come and holds none. */
export class BodyOutput {
  readonly #io: Io;
  readonly #decoder = new TextDecoder();
  #carriage = "";
  #last = "\n";
  #endsLine = true;
  /** Whether a binary body was met on a terminal: nothing more is written. */
  binary = false;

  constructor(io: Io) {
    this.#io = io;
  }

  /** Writes one chunk. */
  async write(chunk: Uint8Array): Promise<void> {
    if (chunk.length > 0) this.#endsLine = chunk[chunk.length - 1] === 10;
    if (!this.#io.terminals.stdout) return await this.#io.out(chunk);
    if (chunk.includes(0)) this.binary = true;
    if (this.binary) return;
    await this.#show(this.#decoder.decode(chunk, { stream: true }));
  }

  /** Whether what follows in a merged output would be glued to the body's last line. */
  get open(): boolean {
    return !this.#io.terminals.stdout && !this.#endsLine;
  }

  /** Ends the body: on a terminal with a line end, so that the prompt stands alone. */
  async end(): Promise<void> {
    if (!this.#io.terminals.stdout || this.binary) return;
    await this.#show(this.#decoder.decode());
    if (this.#last !== "\n") await this.#io.out("\n");
  }

  async #show(text: string): Promise<void> {
    let whole = this.#carriage + text;
    this.#carriage = whole.endsWith("\r") ? "\r" : ""; // its line feed may be in the next chunk
    if (this.#carriage !== "") whole = whole.slice(0, -1);
    const safe = whole.replaceAll("\r\n", "\n").replace(/[^\n\t]+/g, displaySafe);
    if (safe === "") return;
    this.#last = safe.at(-1)!;
    await this.#io.out(safe);
  }
}
