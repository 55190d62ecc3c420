/**
 * How a cell hands an answer over: small ones whole in one message, others chunk by chunk within a window, so that a slow
 * reader slows the upstream and not the memory (DESIGN §9).
 */

import { concat } from "@custos/core/bytes";
import { type CellHead, type CellSummary, type FromCell, WINDOW_BYTES } from "./cell_protocol.ts";

/** Sends one message to the daemon; the buffers are transferred. */
export type Post = (message: FromCell, transfer: ArrayBuffer[]) => void;

/** Writer of one answer. */
export class AnswerWriter {
  readonly #id: number;
  readonly #post: Post;
  readonly #abort: AbortSignal;
  #head: CellHead | null = null;
  #gathered: Uint8Array[] | null = null;
  #credit = WINDOW_BYTES;
  #wake: (() => void) | null = null;

  constructor(id: number, post: Post, abort: AbortSignal) {
    this.#id = id;
    this.#post = post;
    this.#abort = abort;
    abort.addEventListener("abort", () => this.#wake?.(), { once: true });
  }

  /** Begins the answer. A `small` one goes out whole, in one message, when it ends. */
  head(head: CellHead, small: boolean): void {
    this.#head = head;
    this.#gathered = [];
    if (!small) this.#release();
  }

  /** Passes bytes on. The caller may not use them afterwards. */
  write(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#gathered === null) this.#send(bytes);
    else this.#gathered.push(bytes);
  }

  /** Ends the answer. */
  end(summary: CellSummary): void {
    if (this.#gathered === null) return this.#post({ type: "end", id: this.#id, summary }, []);
    const bytes = concat(...this.#gathered);
    // copied: for a few kilobytes that is cheaper than a transfer
    this.#post({ type: "whole", id: this.#id, head: this.#head!, bytes, summary }, []);
  }

  /** Passes on what is there, before an error follows: status, headers and what was received (B82). */
  flush(): void {
    if (this.#gathered !== null) this.#release();
  }

  /** Waits until the window is open, or the request is aborted. */
  async mayWrite(): Promise<void> {
    while (this.#credit <= 0 && !this.#abort.aborted) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  /** Opens the window by what the daemon's reader took. */
  credit(bytes: number): void {
    this.#credit += bytes;
    this.#wake?.();
  }

  #release(): void {
    const gathered = this.#gathered ?? [];
    this.#gathered = null;
    this.#post({ type: "head", id: this.#id, head: this.#head! }, []);
    for (const bytes of gathered) this.#send(bytes);
  }

  #send(bytes: Uint8Array): void {
    // a view of a larger buffer is copied, or the transfer would take its neighbours along
    const own = bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer
      ? bytes as Uint8Array<ArrayBuffer>
      : Uint8Array.from(bytes);
    this.#credit -= own.length;
    this.#post({ type: "chunk", id: this.#id, bytes: own }, [own.buffer]);
  }
}
