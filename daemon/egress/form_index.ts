/**
 * An index over all forms for one pass over the data: the block-shift search of Wu and Manber ("A fast algorithm for
 * multi-pattern searching", TR 94-17, University of Arizona, 1994). A hash of three bytes says how far the search may jump
 * without missing any form, so clean data is mostly skipped.
 */

const BLOCK = 3;
const HASH_BITS = 15; // a table of bytes that fits the first-level cache
const HASH_MASK = (1 << HASH_BITS) - 1;

function hashAt(data: Uint8Array, last: number): number {
  return (data[last]! ^ (data[last - 1]! << 5) ^ (data[last - 2]! << 10)) & HASH_MASK;
}

/** A form found: where it starts and how long it is. */
export interface Match {
  start: number;
  length: number;
}

/** Immutable; one index serves many scans. */
export class FormIndex {
  /** Length of the longest form, in bytes. */
  readonly longest: number;
  readonly #shortest: number;
  readonly #shift: Uint8Array = new Uint8Array(1 << HASH_BITS);
  readonly #candidates: Map<number, Uint8Array[]> = new Map();
  readonly #byFirst: (Uint8Array[] | undefined)[] = Array.from({ length: 256 });

  /** `forms` must be at least one, each of three bytes or more. */
  constructor(forms: readonly Uint8Array[]) {
    const sorted = [...forms].sort((a, b) => b.length - a.length);
    this.longest = sorted[0]?.length ?? 0;
    this.#shortest = sorted.at(-1)?.length ?? 0;
    if (this.#shortest < BLOCK) throw new RangeError("a form index needs forms of three bytes or more");
    const furthest = Math.min(255, this.#shortest - BLOCK + 1);
    this.#shift.fill(furthest);
    for (const form of sorted) {
      for (let last = BLOCK - 1; last < this.#shortest; last++) {
        const hash = hashAt(form, last);
        this.#shift[hash] = Math.min(this.#shift[hash]!, this.#shortest - 1 - last);
      }
      const end = hashAt(form, this.#shortest - 1);
      const same = this.#candidates.get(end);
      if (same === undefined) this.#candidates.set(end, [form]);
      else same.push(form); // longest first, as `sorted` is
      (this.#byFirst[form[0]!] ??= []).push(form);
    }
  }

  /** The first form that starts at or after `from` and before `before`, the longest of those at the same place. */
  find(data: Uint8Array, from: number, before: number): Match | null {
    const shift = this.#shift;
    const end = Math.min(data.length, before + this.#shortest - 1);
    let last = from + this.#shortest - 1;
    while (last < end) {
      const jump = shift[(data[last]! ^ (data[last - 1]! << 5) ^ (data[last - 2]! << 10)) & HASH_MASK]!;
      if (jump !== 0) {
        last += jump;
        continue;
      }
      const start = last - this.#shortest + 1;
      for (const form of this.#candidates.get(hashAt(data, last)) ?? []) {
        if (matchesAt(data, start, form, form.length)) return { start, length: form.length };
      }
      last++;
    }
    return null;
  }

  /**
   * The first place at or after `from` where the rest of the data is the beginning, but not the whole, of a form: what
   * comes next decides. `data.length` where there is none.
   */
  findOpenEnd(data: Uint8Array, from: number): number {
    for (let start = Math.max(from, data.length - this.longest + 1); start < data.length; start++) {
      const rest = data.length - start;
      for (const form of this.#byFirst[data[start]!] ?? []) {
        if (form.length <= rest) break; // the ones that follow are shorter still
        if (matchesAt(data, start, form, rest)) return start;
      }
    }
    return data.length;
  }
}

function matchesAt(data: Uint8Array, start: number, form: Uint8Array, length: number): boolean {
  if (start + length > data.length) return false;
  for (let i = 0; i < length; i++) {
    if (data[start + i] !== form[i]) return false;
  }
  return true;
}
