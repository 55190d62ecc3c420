/** How much one cell does at a time: heap exhaustion in a worker ends the whole daemon, so everything is bounded. */

import { CustosError } from "@custos/core/errors";

/** Requests of one cell on the network at the same time. */
export const MAX_RUNNING = 128;
/** Requests that wait for a place. */
export const MAX_WAITING = 256;
/** Bytes of request bodies in memory, of running and waiting requests together. */
export const MAX_BODY_BYTES_HELD = 134_217_728;

/** Places for requests, first come first served. */
export class Slots {
  #running = 0;
  #held = 0;
  readonly #waiting: { go: () => void; stop: (error: CustosError) => void }[] = [];

  /**
   * Waits for a place and returns its release, to be called once. Throws `too_many_pending` where too much waits already,
   * and what {@link stop} or `signal` say.
   */
  async take(bytes: number, signal?: AbortSignal): Promise<() => void> {
    if (this.#waiting.length >= MAX_WAITING || this.#held + bytes > MAX_BODY_BYTES_HELD) {
      throw new CustosError(
        "too_many_pending",
        "Too many requests of this secret run already. Try again later.",
      );
    }
    this.#held += bytes;
    try {
      if (this.#running >= MAX_RUNNING) await this.#wait(signal);
      else this.#running++;
    } catch (error) {
      this.#held -= bytes;
      throw error;
    }
    return () => {
      this.#held -= bytes;
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next.go(); // the place passes on
    };
  }

  /** Refuses all that wait. */
  stop(error: CustosError): void {
    for (const waiter of this.#waiting.splice(0)) waiter.stop(error);
  }

  #wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = { go: resolve, stop: reject };
      const leave = () => {
        const at = this.#waiting.indexOf(waiter);
        if (at === -1) return;
        this.#waiting.splice(at, 1);
        reject(
          new CustosError("withdrawn", "The caller left before the request was sent. Nothing was sent."),
        );
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting.push(waiter);
    });
  }
}
