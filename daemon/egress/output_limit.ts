/** A bound on what is passed on, applied after scrubbing: cutting first could leave half a secret (B65). */

import { concat } from "@custos/core/bytes";
import type { Piece } from "./scrubber.ts";

/** Counts scrubbed bytes up to `max` and never cuts a marker. */
export class OutputLimit {
  /** Whether something was left out. */
  truncated = false;
  #left: number;

  constructor(max: number) {
    this.#left = max;
  }

  /** What of these pieces may be passed on. A single unmarked piece comes back as it is, without a copy. */
  take(pieces: readonly Piece[]): Uint8Array {
    const kept: Uint8Array[] = [];
    for (const { bytes, marker } of pieces) {
      if (this.truncated) break;
      if (bytes.length <= this.#left) {
        kept.push(bytes);
        this.#left -= bytes.length;
        continue;
      }
      this.truncated = true;
      if (!marker) kept.push(bytes.subarray(0, this.#left));
      this.#left = 0;
    }
    return kept.length === 1 ? kept[0]! : concat(...kept);
  }
}
