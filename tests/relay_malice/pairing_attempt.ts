/** One attempt to pair by the code in the terminal, by a phone that can be watched and stopped at any time. */

import assert from "node:assert/strict";
import {
  encodePairMessage,
  type MailboxKeys,
  type PairMessage,
  readPairingUrl,
  readPairMessage,
  rendezvousMailboxes,
} from "@custos/core/pairing";
import { type Bytes, fromBase64url } from "@custos/core/bytes";
import { PATIENCE_MS } from "../e2e/harness_wait.ts";
import { SoftwareAuthenticator } from "../phone/authenticator.ts";
import { MemoryStore } from "../phone/memory_store.ts";
import { SoftwarePhone } from "../phone/software_phone.ts";
import { ORIGIN } from "../e2e/harness_parts.ts";
import type { Passing } from "./hostile_relay.ts";
import type { Stage } from "./stage.ts";

/** A code in the terminal, and what only those know who saw it. */
export interface Code {
  pairing_id: string;
  url: string;
  boxes: { to_daemon: MailboxKeys; to_phone: MailboxKeys };
}

/** A phone that pairs, or tries to. */
export interface Attempt {
  /** The words on its screen. Rejects where it does not get so far. */
  words: Promise<string>;
  /** The kind of the error that it ended with, or `paired`. */
  end: Promise<string>;
  paired: Promise<SoftwarePhone>;
  store: MemoryStore;
  stop(): void;
}

/** Shows a code, as `custos pair` does. Whatever code was shown before is void then. */
export async function showCode({ client }: Stage): Promise<Code> {
  const { pairing_id, url } = await client.call("pair.begin", {});
  const { secret, rendezvous } = readPairingUrl(url);
  return { pairing_id, url, boxes: await rendezvousMailboxes(fromBase64url(secret)!, rendezvous) };
}

/** A phone of its own with this code. */
export function tryPair(url: string, device_name = "a phone"): Attempt {
  const words = Promise.withResolvers<string>();
  const stop = new AbortController();
  const store = new MemoryStore();
  const authenticator = new SoftwareAuthenticator(ORIGIN);
  const setup = { onWords: words.resolve, store, authenticator, device_name, signal: stop.signal };
  const paired = SoftwarePhone.pair(url, setup);
  paired.catch(words.reject);
  words.promise.catch(() => {});
  const end = paired.then(() => "paired", (error) => String(error.kind ?? error.name));
  return { words: words.promise, end, paired, store, stop: () => stop.abort() };
}

/** Where the daemon is in this pairing, once it is no longer `from`; `from` where it stays there. */
export async function stateAfter(
  { client }: Stage,
  { pairing_id }: Code,
  from: string,
  wait_ms = PATIENCE_MS,
): Promise<string> {
  let { state } = await client.call("pair.status", { pairing_id });
  if (state === from) ({ state } = await client.call("pair.status", { pairing_id, wait_ms }));
  return state;
}

/** What was posted in a pairing, decoded; `null` for everything that is no message of it. */
export function pairMessage({ kind, data }: Pick<Passing, "kind" | "data">): PairMessage | null {
  if (kind !== "post") return null;
  try {
    return readPairMessage(data);
  } catch {
    return null;
  }
}

/** The same message with something else in it. */
export function changed(message: PairMessage, change: Record<string, unknown>): Bytes {
  return encodePairMessage({ ...message, ...change } as PairMessage);
}

/** What must be so after every pairing that was not the person's own. */
export async function nobodyIsEnrolled(s: Stage, ...attempts: Attempt[]): Promise<void> {
  for (const attempt of attempts) {
    attempt.stop();
    assert.notEqual(await attempt.end, "paired");
    assert.deepEqual(await attempt.store.daemons(), []);
  }
  const { devices } = await s.client.call("devices.list", {});
  assert.deepEqual(devices, []);
  const events = new Set((await s.events()).map(({ event }) => event));
  for (const event of ["daemon_started", "daemon_stopped", "pairing_begun", "pairing_failed"]) {
    events.delete(event);
  }
  assert.deepEqual([...events], [], "nothing else was recorded");
}
