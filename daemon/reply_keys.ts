/**
 * The one-time identities to which phones seal file keys: one a request, in memory only, so that a recorded approval is
 * worthless to whoever later reads this machine's disk (DESIGN §5.2).
 */
export class ReplyKeys {
  readonly #identities = new Map<string, string>();

  /** Keeps the identity of a request. */
  set(requestId: string, identity: string): void {
    this.#identities.set(requestId, identity);
  }

  /** The identity of a request of this run, or `undefined`. */
  get(requestId: string): string | undefined {
    return this.#identities.get(requestId);
  }

  /** Forgets it, once the request has ended. */
  forget(requestId: string): void {
    this.#identities.delete(requestId);
  }
}
