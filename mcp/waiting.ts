/**
 * Waiting for the human's answer to a request that exists. The wait is made of short reads of `access.status`: it creates
 * nothing and sends nothing, and when it ends, by time or by cancellation, the request stays as it is (DESIGN §5.2).
 */

import { CustosError } from "@custos/core/errors";
import type { AccessStatusResult } from "@custos/rpc/request_schemas";
import { withAbout } from "./results.ts";
import type { CallContext } from "./tool.ts";

/** Longest single read, in ms, so that a daemon that stops is noticed soon. */
const SLICE_MS = 10_000;
/** Shortest time between two reads, in ms, for a daemon that answers "pending" at once. */
const PAUSE_MS = 200;

/** What is known of a request before its type is: enough to tell the user. */
export type Known = Omit<AccessStatusResult, "type" | "reason">;

/** The sentence that goes to the user while a call waits. */
export function waitingFor(fingerprint: string): string {
  return `Waiting for an answer on the phone. The card there must show these three words: ${fingerprint}`;
}

/**
 * The state of a request after at most `seconds`. `first` is its state now, where it is known. Throws what the daemon
 * says, with the request's id and words; and `internal` if the words of one id change, which must never happen.
 */
export async function waitForAnswer(
  context: CallContext,
  id: string,
  first: Known | null,
  seconds: number,
): Promise<Known | AccessStatusResult> {
  if (first !== null && (first.status !== "pending" || seconds === 0)) return first;
  const progress = context.progress(seconds);
  const end = performance.now() + seconds * 1000;
  let state: Known | AccessStatusResult | null = first;
  if (state !== null) progress.say(waitingFor(state.fingerprint));
  try {
    for (;;) {
      const left = Math.max(0, Math.ceil(end - performance.now()));
      // the first read of a poll does not wait: it learns the words, for the progress that follows
      const wait = state === null ? 0 : Math.min(left, SLICE_MS);
      const begun = performance.now();
      const next = await readStatus(context, id, wait, state);
      if (state === null) progress.say(waitingFor(next.fingerprint));
      state = next;
      if (state.status !== "pending" || performance.now() >= end) return state;
      if (wait > 0 && performance.now() - begun < PAUSE_MS) await pause(PAUSE_MS, context.signal);
    }
  } finally {
    progress.end();
  }
}

async function readStatus(
  context: CallContext,
  id: string,
  wait_ms: number,
  before: Known | null,
): Promise<AccessStatusResult> {
  let next: AccessStatusResult;
  try {
    next = await context.daemon.call("access.status", { request_id: id, wait_ms }, {
      signal: context.signal,
    });
  } catch (error) {
    const told = unreadable(error);
    throw before === null ? told : withAbout(told, before);
  }
  if (next.request_id !== id || (before !== null && next.fingerprint !== before.fingerprint)) {
    throw new CustosError(
      "internal",
      "The daemon answered for another request, or with other words for the same one. Do not approve anything.",
    );
  }
  return next;
}

/** A read that fails inside says nothing about the request: for the agent its outcome is unknown (DESIGN §10). */
function unreadable(error: unknown): unknown {
  if (!(error instanceof CustosError) || error.kind !== "internal") return error;
  return new CustosError(
    "outcome_unknown",
    `What became of this request could not be read, and polling again is safe. ${error.message}`,
    error.request === null ? {} : { request: error.request },
  );
}

/** Resolves after `ms`; rejects at once when the call is cancelled. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = () => reject(signal.reason);
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", stop, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  });
}
