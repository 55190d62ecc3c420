/** Rate limits: one token bucket for each key. */

interface Bucket {
  tokens: number;
  at_ms: number;
}

/** How a {@link TokenBuckets} counts. `now` is a clock in milliseconds. */
export interface TokenBucketOptions {
  /** How many takes in a row. */
  capacity: number;
  per_second: number;
  /** Keys that are remembered. The one that was quiet longest is forgotten first, which makes its bucket full again. */
  keys_max: number;
  now: () => number;
}

/** Buckets that start full and refill evenly. */
export class TokenBuckets {
  readonly #options: TokenBucketOptions;
  readonly #buckets: Map<string, Bucket> = new Map(); // in the order of last use

  constructor(options: TokenBucketOptions) {
    this.#options = options;
  }

  /** Takes one token of `key`. Returns 0, or how many milliseconds to wait until there is one. */
  take(key: string): number {
    const { capacity, per_second, keys_max } = this.#options;
    const at_ms = this.#options.now();
    const last = this.#buckets.get(key) ?? { tokens: capacity, at_ms };
    const gained = Math.max(0, at_ms - last.at_ms) * per_second / 1000; // a clock set back gives nothing
    const tokens = Math.min(capacity, last.tokens + gained);
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens: tokens < 1 ? tokens : tokens - 1, at_ms });
    if (this.#buckets.size > keys_max) this.#buckets.delete(this.#buckets.keys().next().value!);
    return tokens < 1 ? Math.ceil((1 - tokens) * 1000 / per_second) : 0;
  }
}
