/**
 * Messages between the daemon and a cell that are posted in the same turn go together: each post wakes the other side's
 * event loop, which costs several times what the message itself does.
 */

/** Hands messages to the other side, in order. */
export type PostAll<M> = (messages: M[], transfer: Transferable[]) => void;

/** What one side has to say. */
export class Outbox<M> {
  readonly #post: PostAll<M>;
  #waiting: M[] = [];

  constructor(post: PostAll<M>) {
    this.#post = post;
  }

  /** Posts a message: with the others of this turn, or at once where something is transferred with it. */
  send(message: M, transfer: Transferable[] = []): void {
    if (transfer.length > 0) {
      this.#flush();
      return this.#post([message], transfer);
    }
    this.#waiting.push(message);
    if (this.#waiting.length === 1) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    const messages = this.#waiting;
    this.#waiting = [];
    if (messages.length > 0) this.#post(messages, []);
  }
}
