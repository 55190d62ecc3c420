/**
 * Replaces every form of a secret in a stream, in one pass, whatever the chunks (DESIGN §12). At one place the longest
 * form wins, of overlapping ones the first. What is not a form comes out byte for byte (B81).
 */

import { concat, utf8 } from "@custos/core/bytes";
import type { FormIndex } from "./form_index.ts";

/** A part of the output. Markers are apart, so that a limit never cuts one (B65). */
export interface Piece {
  bytes: Uint8Array;
  marker: boolean;
}

/** Fewest bytes at a broken end that may not be shown when they begin a form (B59). */
const MIN_PREFIX = 4;

/** The text that stands for a secret: `[custos:<name>]`, or a shorter one where that would hold a form itself (B69). */
export function markerFor(name: string, index: FormIndex): Uint8Array {
  const marker = utf8(`[custos:${name}]`);
  return index.find(marker, 0, marker.length) === null ? marker : utf8("[custos]");
}

/**
 * One stream's scrubber. Keeps back at most the longest form less one byte, and only bytes that begin a form: all else is
 * passed on at once (B59, B79). Chunks are not copied unless bytes were kept back before them.
 */
export class Scrubber {
  /** How many forms were replaced so far. */
  redactions = 0;
  readonly #index: FormIndex;
  readonly #marker: Uint8Array;
  #kept: Uint8Array = new Uint8Array(0);

  constructor(index: FormIndex, marker: Uint8Array) {
    this.#index = index;
    this.#marker = marker;
  }

  /** What can be passed on after this chunk. The pieces may be views of `chunk`, which must not change. */
  push(chunk: Uint8Array): Piece[] {
    const data = this.#kept.length === 0 ? chunk : concat(this.#kept, chunk);
    return this.#scan(data, true);
  }

  /** The rest, at an end that is the message's own. */
  end(): Piece[] {
    return this.#scan(this.#kept, false);
  }

  /** The rest, at an end that came too early: what begins a form is dropped, for it may be a part of the secret (B65). */
  cut(): Piece[] {
    const kept = this.#kept;
    this.#kept = new Uint8Array(0);
    return kept.length === 0 || kept.length >= MIN_PREFIX ? [] : [{ bytes: kept, marker: false }];
  }

  #scan(data: Uint8Array, more: boolean): Piece[] {
    const pieces: Piece[] = [];
    let at = 0;
    let open = more ? this.#index.findOpenEnd(data, 0) : data.length;
    for (;;) {
      const match = this.#index.find(data, at, open);
      if (match === null) break;
      if (match.start > at) pieces.push({ bytes: data.subarray(at, match.start), marker: false });
      pieces.push({ bytes: this.#marker.slice(), marker: true }); // whoever gets a piece may transfer its buffer
      this.redactions++;
      at = match.start + match.length;
      if (more && at > open) open = this.#index.findOpenEnd(data, at);
    }
    if (open > at) pieces.push({ bytes: data.subarray(at, open), marker: false });
    this.#kept = open === data.length ? new Uint8Array(0) : data.slice(open);
    return pieces;
  }
}

/** `bytes` scrubbed as one whole message. */
export function scrubWhole(
  index: FormIndex,
  marker: Uint8Array,
  bytes: Uint8Array,
): { bytes: Uint8Array; redactions: number } {
  const scrubber = new Scrubber(index, marker);
  const pieces = [...scrubber.push(bytes), ...scrubber.end()];
  return { bytes: concat(...pieces.map((piece) => piece.bytes)), redactions: scrubber.redactions };
}
