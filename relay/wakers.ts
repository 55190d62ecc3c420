/** Who wants to know about which mailbox, within one process. */

/** Callbacks by mailbox. Stores use it to implement `watch`. */
export class Wakers {
  readonly #byMailbox: Map<string, Set<() => void>> = new Map();

  /** Calls `wake` at each {@link wake} of `id` until the returned function is called. */
  watch(id: string, wake: () => void): () => void {
    const watching = this.#byMailbox.get(id) ?? new Set();
    const entry = () => wake(); // its own identity: the same callback may watch twice
    this.#byMailbox.set(id, watching.add(entry));
    return () => {
      watching.delete(entry);
      if (watching.size === 0 && this.#byMailbox.get(id) === watching) this.#byMailbox.delete(id);
    };
  }

  /** Tells everybody who watches `id`. */
  wake(id: string): void {
    for (const wake of [...this.#byMailbox.get(id) ?? []]) wake();
  }
}
