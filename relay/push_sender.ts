/**
 * Wakes phones that do not read: one push for all that came, as seldom as it helps (DESIGN §8, B128). Nothing of it is
 * kept over a restart, and nothing else waits for it.
 */

import { decodePushSubscription, type PushSubscription } from "@custos/core/relay_wire";
import { type PushOutcome, pushOutcome } from "./push_attempt.ts";
import type { VapidKey } from "./push_key.ts";
import { pushRequest } from "./push_message.ts";
import { isPushService, PUSH_SERVICES } from "./push_services.ts";
import type { Store } from "./store.ts";

/** What a relay needs to send pushes. */
export interface PushOptions {
  key: VapidKey;
  /** How the push services can reach who runs this relay: `mailto:` or `https:`. */
  contact: string;
  /** Hosts to send to; the list of the known services by default. */
  services?: readonly string[];
  /** Sends the request; the runtime's `fetch` by default. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  timing?: Partial<PushTiming>;
}

/** Times of the sender, in milliseconds. */
export interface PushTiming {
  /** A phone between two long polls, or on its way here, is not pushed. */
  grace_ms: number;
  /** After a push, none for so long: it called the person already. */
  quiet_ms: number;
  /** Time for a service to answer. */
  answer_ms: number;
  /** Pauses between tries, in turn; after the last there is none. */
  retry_ms: readonly number[];
  /** The longest pause that a service may ask for. One that asks for more is not tried again. */
  pause_max_ms: number;
}

const TIMING: PushTiming = {
  grace_ms: 2_000,
  quiet_ms: 20_000,
  answer_ms: 10_000,
  retry_ms: [2_000, 10_000, 60_000],
  pause_max_ms: 5 * 60_000,
};

/** Mailboxes that are looked after at once; beyond it a message is not pushed. */
const MAILBOXES_MAX = 10_000;
/** Requests to push services at once. */
const SENDING_MAX = 32;

/** How it went since the start. */
export interface PushCounts {
  sent: number;
  gone: number;
  refused: number;
  failed: number;
}

/** Sends for one relay instance. `hasReader` says whether somebody reads the mailbox here, now. */
export class PushSender {
  readonly counts: PushCounts = { sent: 0, gone: 0, refused: 0, failed: 0 };
  readonly #store: Store;
  readonly #hasReader: (id: string) => boolean;
  readonly #report: (line: string) => void;
  readonly #options: PushOptions;
  readonly #timing: PushTiming;
  /** Mailboxes that are looked after, and whether something came meanwhile. */
  readonly #busy: Map<string, { again: boolean }> = new Map();
  readonly #ended: AbortController = new AbortController();
  #sending = 0;

  constructor(
    store: Store,
    hasReader: (id: string) => boolean,
    options: PushOptions,
    report: (line: string) => void = () => {},
  ) {
    this.#store = store;
    this.#hasReader = hasReader;
    this.#options = options;
    this.#report = report;
    this.#timing = { ...TIMING, ...options.timing };
  }

  /** Whether a subscription may be kept: its endpoint is at a known service. */
  accepts({ endpoint }: PushSubscription): boolean {
    return isPushService(endpoint, this.#options.services ?? PUSH_SERVICES);
  }

  /** A message came to a mailbox. Returns at once. */
  posted(id: string): void {
    const busy = this.#busy.get(id);
    if (busy !== undefined) {
      busy.again = true;
      return;
    }
    if (this.#ended.signal.aborted || this.#busy.size >= MAILBOXES_MAX) return;
    const state = { again: true };
    this.#busy.set(id, state);
    this.#look(id, state)
      .catch((error) => this.#report(`Looking after pushes failed: ${(error as Error).name}`))
      .finally(() => this.#busy.delete(id));
  }

  /** Ends what goes on. */
  stop(): void {
    this.#ended.abort();
  }

  async #look(id: string, state: { again: boolean }): Promise<void> {
    while (state.again) {
      state.again = false;
      await this.#sleep(this.#timing.grace_ms);
      const subscription = await this.#wanted(id);
      if (subscription === null) continue;
      if (await this.#deliver(id, subscription)) await this.#sleep(this.#timing.quiet_ms);
    }
  }

  /** The subscription of a mailbox whose reader must be called; `null` where nobody is to be. */
  async #wanted(id: string): Promise<PushSubscription | null> {
    if (this.#ended.signal.aborted || this.#hasReader(id)) return null;
    const text = await this.#store.push(id);
    if (text === null) return null;
    const waiting = await this.#store.read(id, 0);
    return waiting === null || waiting.length === 0 ? null : decodePushSubscription(JSON.parse(text));
  }

  /** Tries until it is sent, cannot be, or somebody reads. `true` when it was sent. */
  async #deliver(id: string, subscription: PushSubscription): Promise<boolean> {
    for (const pause of [...this.#timing.retry_ms, null]) {
      const outcome = await this.#try(subscription);
      if (outcome.kind === "sent") {
        this.counts.sent++;
        return true;
      }
      if (outcome.kind !== "later") {
        await this.#drop(id, subscription, outcome);
        return false;
      }
      const wait = outcome.pause_ms ?? pause;
      if (pause === null || wait === null || wait > this.#timing.pause_max_ms) break;
      await this.#sleep(Math.max(wait, pause));
      if (await this.#wanted(id) === null) return false; // it was read, or is about to be
    }
    this.counts.failed++;
    this.#report(`A push service did not take a push: ${new URL(subscription.endpoint).hostname}`);
    return false;
  }

  /** A subscription that will never work is forgotten: else every message would try it again (B128). */
  async #drop(id: string, subscription: PushSubscription, outcome: PushOutcome): Promise<void> {
    await this.#store.removePush(id, JSON.stringify(subscription));
    if (outcome.kind === "gone") this.counts.gone++;
    if (outcome.kind !== "refused") return;
    this.counts.refused++;
    const host = new URL(subscription.endpoint).hostname;
    this.#report(`${host} refused a push with ${outcome.status}; the subscription is removed`);
  }

  async #try(subscription: PushSubscription): Promise<PushOutcome> {
    if (!this.accepts(subscription)) return { kind: "refused", status: 0 }; // the list was another one when it was kept
    if (this.#sending >= SENDING_MAX) return { kind: "later", pause_ms: null };
    this.#sending++;
    try {
      const { key, contact, fetch: send = fetch } = this.#options;
      let init: RequestInit;
      try {
        init = await pushRequest(subscription, key, contact);
      } catch {
        return { kind: "refused", status: 0 }; // keys that are no point of the curve
      }
      const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(this.#timing.answer_ms)]);
      const response = await send(subscription.endpoint, { ...init, signal });
      await response.body?.cancel();
      return pushOutcome(response.status, response.headers.get("retry-after"), Date.now());
    } catch {
      return { kind: "later", pause_ms: null }; // no answer; whether it was sent is unknown, and twice is no harm
    } finally {
      this.#sending--;
    }
  }

  async #sleep(ms: number): Promise<void> {
    const { signal } = this.#ended;
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const timer = setTimeout(wake, ms);
    signal.addEventListener("abort", wake);
    await promise;
    clearTimeout(timer);
    signal.removeEventListener("abort", wake);
  }
}
