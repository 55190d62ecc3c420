/**
 * When the daemon dies. The product has no seam for this: a moment is a time since a step began, or something that can be
 * seen from outside, which is a message at the relay, an answer on the socket, or a request at the API.
 */

import type { Caller, Passing } from "../relay_malice/hostile_relay.ts";
import { between, type Random } from "./random.ts";

/** How long a step takes and how much of it can be seen from outside, where nobody dies. */
export interface Usual {
  ms: number;
  daemon: number;
  phone: number;
  answers: number;
}

/** One moment. `before` the relay got to do what it was asked, or `after` it did but before it said so. */
export type Moment =
  | { kind: "time"; ms: number }
  | { kind: "relay"; caller: Caller; call: number; side: "before" | "after" }
  | { kind: "answer"; call: number }
  | { kind: "sent" };

/** Draws a moment of a step. A sixth of them lie past its usual end: the daemon then dies between two steps. */
export function drawMoment(random: Random, usual: Usual): Moment {
  const draw = random();
  if (draw < 0.4) return { kind: "time", ms: random() * usual.ms * 1.2 };
  if (draw < 0.85) {
    const caller = random() < 0.6 ? "daemon" : "phone";
    const side = random() < 0.5 ? "before" : "after";
    return { kind: "relay", caller, call: between(random, 1, usual[caller] + 1), side };
  }
  if (draw < 0.93) return { kind: "sent" };
  return { kind: "answer", call: between(random, 1, usual.answers) };
}

/** Watches one step and calls `strike` once, at its moment. */
export class Trigger {
  /** What was seen so far. */
  readonly seen: Usual = { ms: 0, daemon: 0, phone: 0, answers: 0 };
  readonly #started = performance.now();
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  #strike: (() => void) | null;

  constructor(readonly moment: Moment | null, strike: () => void) {
    this.#strike = strike;
    if (moment?.kind === "time") this.#timer = setTimeout(() => this.fire(), moment.ms);
  }

  /** Passes a request on at the relay, and strikes before or after it. */
  async relay(passing: Passing): Promise<Response> {
    const { moment } = this;
    const call = ++this.seen[passing.from];
    const here = moment?.kind === "relay" && moment.caller === passing.from && moment.call === call;
    if (here && moment.side === "before") {
      this.fire();
      return new Response(null, { status: 503 }); // it never got there
    }
    const response = await passing.pass();
    if (here) this.fire();
    return response;
  }

  /** The daemon has answered a call. */
  answered(): void {
    this.seen.answers++;
    if (this.moment?.kind === "answer" && this.moment.call === this.seen.answers) this.fire();
  }

  /** The API has read a request. */
  sent(): void {
    if (this.moment?.kind === "sent") this.fire();
  }

  /** The step is over: a moment that never came is now. */
  end(): void {
    clearTimeout(this.#timer);
    this.seen.ms = performance.now() - this.#started;
    if (this.moment !== null) this.fire();
  }

  /** Whether it struck. */
  get struck(): boolean {
    return this.#strike === null;
  }

  /** Strikes, unless that was done. */
  fire(): void {
    const strike = this.#strike;
    this.#strike = null;
    strike?.();
  }
}
