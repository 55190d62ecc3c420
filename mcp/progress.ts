/**
 * Progress while a call waits for a human or an API. Clients that give a progress token keep a call open for as long as
 * progress comes; they give up after about 60 s without (B91).
 */

/** Sends one progress notification; `null` where the client gave no token. */
export type Notify = (progress: number, total: number, message: string) => Promise<void>;

/** Time between two notifications, in ms. The promise is "at least every 10 s". */
const EVERY_MS = 5_000;

/** What is said about one call. */
export class Progress {
  readonly #notify: Notify | null;
  readonly #total: number;
  readonly #every: number;
  readonly #begun = performance.now();
  #message = "";
  #last = -1;
  #timer: ReturnType<typeof setInterval> | null = null;

  /** `total` is the longest wait in seconds; the numbers count seconds. */
  constructor(notify: Notify | null, total: number, every_ms: number = EVERY_MS) {
    this.#notify = notify;
    this.#total = total;
    this.#every = every_ms;
  }

  /** Says `message` now, and again every few seconds until {@link end}. */
  say(message: string): void {
    if (this.#notify === null) return;
    this.#message = message;
    this.#send();
    this.#timer ??= setInterval(() => this.#send(), this.#every);
  }

  /** No more notifications: one that comes after the answer is an error for some clients. */
  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #send(): void {
    // the protocol asks for numbers that rise, also where two messages fall into one second
    const elapsed = (performance.now() - this.#begun) / 1000;
    this.#last = Math.max(this.#last + 0.001, Math.round(elapsed * 1000) / 1000);
    this.#notify?.(this.#last, Math.max(this.#total, this.#last), this.#message).catch(() => {});
  }
}
