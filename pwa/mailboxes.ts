/** Mailboxes as both sides of a pairing or a channel use them: made again whenever the relay has lost them (B152). */

import type { Bytes } from "@custos/core/bytes";
import type { MailboxKeys } from "@custos/core/pairing";
import { Backoff, type RelayClient, type RelayOutcome } from "@custos/core/relay_client";
import { hashToken } from "@custos/core/relay_wire";

/** Makes a mailbox, or finds it. Who makes it does not matter: the hashes come from keys that both sides have. */
export async function makeMailbox(relay: RelayClient, keys: MailboxKeys): Promise<RelayOutcome<void>> {
  return await relay.createMailbox(
    keys.id,
    await hashToken(keys.read_token),
    await hashToken(keys.write_token),
  );
}

/**
 * Posts, and makes the mailbox first where the relay does not know it. Tries up to `tries` times with growing pauses;
 * a message that was stored twice is one message to its receiver, which counts sequences.
 */
export async function postTo(
  relay: RelayClient,
  keys: MailboxKeys,
  data: Bytes,
  options: { tries?: number; signal?: AbortSignal | undefined } = {},
): Promise<boolean> {
  const backoff = new Backoff();
  for (let left = options.tries ?? 3; left > 0; left--) {
    let outcome: RelayOutcome<unknown> = await relay.post(
      keys.id,
      keys.write_token,
      data,
      withSignal(options.signal),
    );
    if (outcome.kind === "gone") {
      outcome = await makeMailbox(relay, keys);
      if (outcome.kind === "ok") {
        outcome = await relay.post(keys.id, keys.write_token, data, withSignal(options.signal));
      }
    }
    if (outcome.kind === "ok") return true;
    const pause = backoff.next(outcome);
    if (pause === null || left === 1 || options.signal?.aborted) return false;
    await sleep(pause, options.signal);
  }
  return false;
}

/** Waits, or ends early when one of `signals` does. Never throws. */
export async function sleep(ms: number, ...signals: (AbortSignal | undefined)[]): Promise<void> {
  if (signals.some((signal) => signal?.aborted)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = () => resolve();
  const timer = setTimeout(wake, ms);
  for (const signal of signals) signal?.addEventListener("abort", wake);
  await promise;
  clearTimeout(timer);
  for (const signal of signals) signal?.removeEventListener("abort", wake);
}

/** `{signal}`, or nothing where there is none. */
export function withSignal(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
