/** Numbers that a seed decides, so that a find can be repeated. Not for secrets. */

/** A source of choices: mulberry32, 32 bits of state. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 to `below` less one. */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let x = this.#state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) % below;
  }

  /** True once in `times`. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** Up to `most` picks, joined. */
  join(list: readonly string[], most: number): string {
    return Array.from({ length: this.below(most + 1) }, () => this.pick(list)).join("");
  }

  bytes(most: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length: this.below(most + 1) }, () => this.below(256));
  }
}

/** What a fuzzer found: the input, and what is wrong about it. */
export interface Find {
  input: string;
  wrong: string;
}

/** Tries one input. `null` where all is as it must be. */
export type Fuzzer = (random: Random) => Find | null;
