/**
 * Waiting for a person. A wait ends when the request does, when its time is over, or when the caller leaves; the end of a
 * wait never ends the request (DESIGN §5.2).
 */

import type { RequestStore, StoredRequest } from "./request_store.ts";

/** Longest wait of one call, in milliseconds. */
export const MAX_WAIT_MS = 120_000;

/** Who waits for what. */
export class Waits {
  readonly #requests: RequestStore;
  readonly #waiting = new Map<string, number>();

  constructor(requests: RequestStore) {
    this.#requests = requests;
  }

  /** How many calls wait for a request now. */
  count(requestId: string): number {
    return this.#waiting.get(requestId) ?? 0;
  }

  /** The request once it has ended, or as it is when `waitMs` are over or `signal` aborts. */
  async until(requestId: string, waitMs: number, signal: AbortSignal): Promise<StoredRequest> {
    const now = () => this.#requests.byId(requestId)!;
    if (now().status !== "pending" || waitMs <= 0 || signal.aborted) return now();
    this.#waiting.set(requestId, this.count(requestId) + 1);
    const ended = Promise.withResolvers<void>();
    const stop = this.#requests.onChange((request) => {
      if (request.id === requestId && request.status !== "pending") ended.resolve();
    });
    const onAbort = () => ended.resolve();
    signal.addEventListener("abort", onAbort, { once: true });
    const timer = setTimeout(() => ended.resolve(), Math.min(waitMs, MAX_WAIT_MS));
    try {
      await ended.promise;
    } finally {
      clearTimeout(timer);
      stop();
      signal.removeEventListener("abort", onAbort);
      const left = this.count(requestId) - 1;
      if (left > 0) this.#waiting.set(requestId, left);
      else this.#waiting.delete(requestId);
    }
    return now();
  }
}
