/**
 * Pairing, the phone's part of DESIGN §7: commit, reveal, three words, and an enrolment in the channel that they made.
 * Everything is in memory until the daemon has confirmed: an interrupted pairing leaves no half-enrolled phone.
 */

import { fromBase64url, randomBytes, toBase64url } from "@custos/core/bytes";
import { canonicalBytes } from "@custos/core/canonical";
import { sealTo } from "@custos/core/custody";
import { asCustosError, CustosError } from "@custos/core/errors";
import {
  commitment,
  encodePairMessage,
  PAIRING_ENROL_MS,
  PAIRING_OPEN_MS,
  type PairingKeys,
  pairingKeys,
  type PairingOffer,
  type PairMessage,
  pairRecipientHash,
  type PairReveal,
  readPairingUrl,
  readPairMessage,
  rendezvousMailboxes,
} from "@custos/core/pairing";
import type { DaemonMessage } from "@custos/core/messages";
import { RelayClient } from "@custos/core/relay_client";
import { enrol, type Enrolment, type EnrolOptions } from "./enrol.ts";
import { NO_ACTIVITY } from "./activity.ts";
import { takeCheckpoint } from "./log_sync.ts";
import { makeMailbox, postTo } from "./mailboxes.ts";
import { greet } from "./outbox.ts";
import { MailboxReader, PairChannel } from "./pair_channel.ts";
import type { PhoneParts } from "./phone_parts.ts";
import type { PhoneRecord } from "./phone_store.ts";

/** What pairing needs beside the phone's parts. */
export interface PairOptions extends Omit<EnrolOptions, "authenticator" | "now"> {
  /** The link from the code in the terminal. */
  url: string;
  /** Shows the three words; the person types the first one into the terminal. */
  onWords: (words: string) => void;
  /** Ends the pairing early. */
  signal?: AbortSignal;
}

/** A phone that is enrolled. */
export interface Paired {
  daemon: string;
  daemon_name: string;
  device: string;
}

/**
 * Pairs with the daemon of a link, and stores the enrolment. Throws `pairing_refused`, `no_device` (the passkey),
 * `daemon_unreachable` (the relay) or `storage`; nothing is stored then. A browser's `DOMException` passes through.
 */
export async function pair<K>(parts: PhoneParts<K>, options: PairOptions): Promise<Paired> {
  const offer = readPairingUrl(options.url);
  const relay = new RelayClient({ url: offer.relay, fetch: parts.fetch });
  const keys = await meet(relay, offer, parts.build, options, limit(PAIRING_OPEN_MS, options.signal));
  options.onWords(keys.words);
  const channel = await PairChannel.open(parts, relay, keys);
  try {
    const ready = await channel.expect("pair_ready", limit(PAIRING_OPEN_MS, options.signal));
    const signal = limit(PAIRING_ENROL_MS, options.signal);
    const { authenticator, now } = parts;
    const enrolment = await enrol(ready, keys.transcript, { ...options, authenticator, now });
    await channel.send(enrolment.register, signal);
    const registered = await channel.expect("registered", signal, enrolment.register);
    const record = await recordOf(offer, keys, channel, enrolment, registered);
    await parts.store.create(greet(record, parts.build, parts.now()));
    return { daemon: ready.daemon, daemon_name: ready.daemon_name, device: record.device };
  } catch (error) {
    await giveUp(channel, error);
    throw error;
  }
}

/** Steps 1 to 4: commit before the daemon's nonce is known, then reveal. */
async function meet(
  relay: RelayClient,
  offer: PairingOffer,
  build: string,
  options: PairOptions,
  signal: AbortSignal,
): Promise<PairingKeys> {
  const secret = fromBase64url(offer.secret)!;
  const boxes = await rendezvousMailboxes(secret, offer.rendezvous);
  for (const mailbox of [boxes.to_daemon, boxes.to_phone]) {
    const made = await makeMailbox(relay, mailbox);
    if (made.kind !== "ok") {
      throw new CustosError("daemon_unreachable", "The relay of this link cannot be reached. Is it running?");
    }
  }
  const post = async (message: PairMessage) => {
    if (await postTo(relay, boxes.to_daemon, encodePairMessage(message), { tries: 5, signal })) return;
    throw new CustosError(
      "daemon_unreachable",
      "The relay did not take a message of this pairing. Try again.",
    );
  };

  const key = randomBytes(32);
  const nonce = randomBytes(32);
  const c = toBase64url(await commitment(nonce, key));
  await post({ v: 1, t: "commit", c });
  const answer = await expectKey(new MailboxReader(relay, boxes.to_phone), signal);
  if (await pairRecipientHash(answer.recipient) !== offer.recipient_sha256) {
    throw new CustosError(
      "pairing_refused",
      "The answer does not come from the computer that showed the code. Somebody may be between. Begin again.",
    );
  }
  const { device_name, platform } = options;
  const reveal: PairReveal = {
    key: toBase64url(key),
    nonce: toBase64url(nonce),
    device_name,
    platform,
    build,
  };
  const sealed = toBase64url(await sealTo([answer.recipient], canonicalBytes(reveal)));
  await post({ v: 1, t: "reveal", sealed });
  const { recipient } = answer;
  const keys = await pairingKeys({ c, recipient, nonce: answer.nonce, sealed, phoneKey: key, secret });
  key.fill(0);
  return keys;
}

/** The daemon's answer. Anybody who saw the code can write here, so what does not read is passed over. */
async function expectKey(
  reader: MailboxReader,
  signal: AbortSignal,
): Promise<Extract<PairMessage, { t: "key" }>> {
  for (;;) {
    const bytes = await reader.next(signal);
    if (bytes === null) {
      throw new CustosError(
        "pairing_refused",
        "The computer did not answer. The code may be used or too old: run custos pair again.",
      );
    }
    try {
      const message = readPairMessage(bytes);
      if (message.t === "key") return message;
    } catch {
      // not a message of this protocol
    }
  }
}

/** The record to store: only when the daemon took exactly what this phone made. */
async function recordOf<K>(
  offer: PairingOffer,
  keys: PairingKeys,
  channel: PairChannel<K>,
  enrolment: Enrolment,
  registered: Extract<DaemonMessage, { t: "registered" }>,
): Promise<PhoneRecord<K>> {
  const { record, log, device } = enrolment;
  const same = toBase64url(canonicalBytes(registered.record)) === toBase64url(canonicalBytes(record));
  if (!same || registered.device !== device.device_id) {
    throw new CustosError(
      "pairing_refused",
      "The computer registered something else than this phone signed.",
    );
  }
  const fresh: PhoneRecord<K> = {
    v: 1,
    daemon: log.daemon,
    relay: offer.relay,
    device: device.device_id,
    words_key: registered.words_key,
    to_daemon: keys.to_daemon,
    to_phone: keys.to_phone,
    ...channel.stored,
    log: { records: [record], state: log },
    audit_head: { size: 0, head: null },
    audit_floor: 0,
    daemon_now_ms: 0,
    clock_offset_ms: 0,
    syncs: 0,
    alarm: null,
    cards: [],
    grants: [],
    policies: [],
    activity: NO_ACTIVITY,
    trouble: null,
    outbox: [],
  };
  const taken = await takeCheckpoint(fresh, registered.checkpoint);
  if (typeof taken === "object") return taken.record;
  throw new CustosError("pairing_refused", "The computer's log is not signed by the key that it showed.");
}

/** Tells the daemon that this pairing ends here, so that its terminal can say so. Never throws. */
async function giveUp<K>(channel: PairChannel<K>, error: unknown): Promise<void> {
  const code = error instanceof CustosError ? error.kind : "no_device";
  const message = asCustosError(error).message.slice(0, 500);
  await channel.send({ t: "error", code, about: null, message }).catch(() => {});
}

function limit(ms: number, signal: AbortSignal | undefined): AbortSignal {
  const timeout = AbortSignal.timeout(ms);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}
