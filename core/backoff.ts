/** How long whoever uses a relay waits before the next try, so that no relay can keep it busy or make many come at once. */

import type { RelayOutcome } from "./relay_client.ts";

/** Longest step of a {@link Backoff}, in milliseconds. Its shortest pause is a fifth: at most 10 tries a minute (B171). */
const STEP_MS_MAX = 30_000;
const STEP_MS_FIRST = 500;
/** Pages in a row that may be useless without a pause: a mailbox may hold what was meant for an earlier session. */
const USELESS_PAGES = 3;
const USELESS_STEP_MS = 100;
const USELESS_MS_MAX = 2_000;
/** What a relay can ask for at most: a wrong `Retry-After` must not silence a daemon for a day. */
const RETRY_AFTER_MS_MAX = 300_000;

/**
 * How long to pause before the next try. Steps double from 0.5 s to 30 s; the pause is drawn evenly from a fifth of the
 * step up to the whole step, so that clients that lost a relay together do not come back together (B141, B171).
 */
export class Backoff {
  readonly #random: () => number;
  #failures = 0;
  #useless = 0;

  /** `random` draws from [0, 1). */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /**
   * The pause after an outcome, in milliseconds: 0 after `ok`, and the count starts again. `null` means stop and show the
   * outcome, because no later try can go better: the token is wrong or the relay refuses the request as such.
   */
  next(outcome: RelayOutcome<unknown>): number | null {
    if (outcome.kind === "unauthorized" || outcome.kind === "refused") return null;
    if (outcome.kind === "ok") {
      this.#failures = 0;
      return 0;
    }
    const step = Math.min(STEP_MS_MAX, STEP_MS_FIRST * 2 ** Math.min(this.#failures++, 16));
    const asked = "retry_after_ms" in outcome ? Math.min(outcome.retry_after_ms, RETRY_AFTER_MS_MAX) : 0;
    return asked + Math.round(step / 5 + this.#random() * step * 4 / 5);
  }

  /**
   * The pause after a page with messages, in milliseconds: 0 where one of them was of use. A relay that gives the same page
   * for ever, or is flooded, must not keep its readers busy (B171); a reader that waits too long would help it.
   */
  page(useful: boolean): number {
    this.#useless = useful ? 0 : this.#useless + 1;
    const more = this.#useless - USELESS_PAGES;
    return more <= 0 ? 0 : Math.min(USELESS_MS_MAX, USELESS_STEP_MS * 2 ** Math.min(more - 1, 16));
  }
}
