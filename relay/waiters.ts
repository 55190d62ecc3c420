/** Readers that wait for a message. */

/** Why a wait ended: a change, its time, the reader left, a newer reader took its place, or the relay stops. */
export type Ring = "changed" | "time" | "left" | "replaced" | "stopping";

/** One waiting reader. A ring that comes while nobody waits is kept for the next wait, so that none is lost. */
export class Waiter {
  #kept: Ring | null = null;
  #resolve: ((ring: Ring) => void) | null = null;

  /** Ends the current or next wait. Rings other than `changed` are final: every later wait ends with them too. */
  ring(ring: Ring): void {
    if (this.#kept !== null && this.#kept !== "changed") return;
    this.#kept = ring;
    this.#resolve?.(ring);
  }

  /** Waits for a ring, at most `ms`. One wait at a time. */
  async wait(ms: number): Promise<Ring> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ring = this.#kept ?? await new Promise<Ring>((resolve) => {
      this.#resolve = resolve;
      timer = setTimeout(() => resolve("time"), ms);
    });
    clearTimeout(timer);
    this.#resolve = null;
    if (this.#kept === "changed") this.#kept = null;
    return ring;
  }
}

/** All waiting readers of one relay instance. */
export class Waiters {
  readonly #per_mailbox_max: number;
  readonly #byMailbox: Map<string, Set<Waiter>> = new Map(); // oldest first
  #stopping = false;

  constructor(per_mailbox_max: number) {
    this.#per_mailbox_max = per_mailbox_max;
  }

  /**
   * A waiter on `id`. Where that is one too many, the oldest is ended: it may be a dead connection, and refusing the new
   * one would lock out a reader that comes back after sleep (B141).
   */
  open(id: string): Waiter {
    const waiter = new Waiter();
    if (this.#stopping) waiter.ring("stopping");
    const waiting = this.#byMailbox.get(id) ?? new Set();
    this.#byMailbox.set(id, waiting.add(waiter));
    if (waiting.size > this.#per_mailbox_max) {
      const oldest = waiting.values().next().value!;
      oldest.ring("replaced");
      waiting.delete(oldest);
    }
    return waiter;
  }

  /** Whether somebody waits on `id`. */
  has(id: string): boolean {
    return this.#byMailbox.has(id);
  }

  /** Forgets a waiter. */
  close(id: string, waiter: Waiter): void {
    const waiting = this.#byMailbox.get(id);
    waiting?.delete(waiter);
    if (waiting?.size === 0) this.#byMailbox.delete(id);
  }

  /** Ends every wait, now and from now on. */
  stop(): void {
    this.#stopping = true;
    for (const waiting of this.#byMailbox.values()) {
      for (const waiter of [...waiting]) waiter.ring("stopping");
    }
  }

  /** How many wait. */
  get count(): number {
    let count = 0;
    for (const waiting of this.#byMailbox.values()) count += waiting.size;
    return count;
  }
}
