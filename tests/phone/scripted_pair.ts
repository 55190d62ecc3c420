/** A software phone paired with a scripted daemon over a relay in memory: where most tests of the phone begin. */

import { SoftwareAuthenticator } from "./authenticator.ts";
import { MemoryRelay } from "./memory_relay.ts";
import { ScriptedDaemon } from "./scripted_daemon.ts";
import type { CardMessage } from "@custos/pwa";
import type { HeldSecret } from "./scripted_cards.ts";
import { SoftwarePhone } from "./software_phone.ts";

/** The page that passkeys of the tests belong to. */
export const ORIGIN = "https://phone.example.test";

/** Both ends. */
export interface Ends {
  relay: MemoryRelay;
  daemon: ScriptedDaemon;
  phone: SoftwarePhone;
}

/** Runs a test with a fresh pair, and closes the phone afterwards. */
export async function withPair(use: (ends: Ends) => Promise<void>): Promise<void> {
  const relay = new MemoryRelay();
  const daemon = new ScriptedDaemon(relay);
  const { url } = await daemon.pairing();
  const authenticator = new SoftwareAuthenticator(ORIGIN);
  const phone = await SoftwarePhone.pair(url, { fetch: relay.fetch, authenticator, onWords: () => {} });
  try {
    await use({ relay, daemon, phone });
  } finally {
    await phone.close();
  }
}

/** Lets phone and daemon know a secret without a drop: the log's state is set on both sides, unsigned. */
export async function knowSecret({ daemon, phone }: Ends, secret: HeldSecret): Promise<void> {
  const { secret_id, epoch } = secret.policy;
  const { policy_hash, header_sha256 } = secret;
  const secrets = new Map(daemon.log.secrets).set(secret_id, {
    secret_id,
    policy_hash,
    header_sha256,
    epoch,
  });
  daemon.log = { ...daemon.log, secrets };
  await phone.store.update(phone.daemon, (record) => {
    const log = { ...record.log, state: { ...record.log.state, secrets } };
    return Promise.resolve([{ ...record, log }, undefined]);
  });
}

/** Sends a card and waits until the phone has it. Returns its hash. */
export async function deliver({ daemon, phone }: Ends, card: CardMessage): Promise<string> {
  await daemon.send(card);
  const stored = await phone.when(async () => {
    return (await phone.cards()).find((one) => one.message.doc.id === card.doc.id) ?? null;
  }, 5_000);
  if (stored === null) throw new Error("The phone did not get the card.");
  return stored.request_hash;
}
