/** Tells those who wait that something changed. Another process may have changed it too, so waits are short. */

/** How often to look for changes of other processes, in milliseconds. */
const LOOK_MS = 100;

/** Waiters for the next change. */
export class Changes {
  readonly #waiting = new Set<() => void>();
  #count = 0;

  /** `ended` ends every wait. */
  constructor(ended: AbortSignal) {
    ended.addEventListener("abort", () => this.announce(), { once: true });
  }

  /** How many changes there were. Take it before looking, so that no change falls between look and wait. */
  get count(): number {
    return this.#count;
  }

  /** Ends every wait. */
  announce(): void {
    this.#count++;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves at the first change after `count`, or after `most_ms` or a moment, whichever is first. */
  async after(count: number, most_ms: number): Promise<void> {
    if (count !== this.#count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.min(most_ms, LOOK_MS));
    this.#waiting.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(resolve);
  }
}
