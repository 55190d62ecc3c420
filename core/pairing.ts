/**
 * Pairing: how a phone and a daemon come to share keys through a relay that neither trusts (DESIGN §7). The phone commits
 * before it sees the daemon's nonce, so neither side can steer the three words that the human compares.
 */

import {
  type Bytes,
  concat,
  equalBytes,
  fromBase64url,
  fromUtf8,
  toBase64url,
  toHex,
  utf8,
} from "./bytes.ts";
import { canonicalBytes, parseCanonical } from "./canonical.ts";
import { isHybridRecipient } from "./custody.ts";
import { CustosError } from "./errors.ts";
import { toWords } from "./fingerprint.ts";
import { toBase32 } from "./ids.ts";
import { deriveKey, labelledHash } from "./labels.ts";
import { base64urlOf, base64urlUpTo, decode, exactly, oneOf, type Schema, shape, text } from "./schema.ts";
import * as z from "zod/mini";

/** What the QR says. The secret is worthless after use, and is in the fragment, which no server sees (B135, B137). */
export interface PairingOffer {
  relay: string;
  rendezvous: string;
  /** `H("custos/pair-recipient/v1", recipient)` of the daemon's one-time recipient. */
  recipient_sha256: string;
  /** 16 bytes, base64url. */
  secret: string;
  expires_ms: number;
}

/** Steps 1 to 5 must be done in this time, in milliseconds. */
export const PAIRING_OPEN_MS = 120_000;
/** The rest of the enrolment, from the confirmed word, in milliseconds. */
export const PAIRING_ENROL_MS = 900_000;
/** Wrong words before the pairing is void. */
export const PAIRING_ATTEMPTS = 3;

/** The three messages before there is a channel. `t` names the step. */
export type PairMessage =
  | { v: 1; t: "commit"; c: string }
  | { v: 1; t: "key"; recipient: string; nonce: string }
  | { v: 1; t: "reveal"; sealed: string };

/** What the phone reveals in step 3, sealed to the daemon's one-time recipient. */
export interface PairReveal {
  key: string;
  nonce: string;
  device_name: string;
  platform: string;
  build: string;
}

/** The two halves of a mailbox's rights. The relay learns only their hashes (`relay/wire.md`). */
export interface MailboxKeys {
  id: string;
  read_token: string;
  write_token: string;
}

/** What pairing yields on both sides. */
export interface PairingKeys {
  transcript: Bytes;
  /** The three words. */
  words: string;
  /** 16 bytes in hexadecimal. */
  channel: string;
  root: Bytes;
  to_daemon: MailboxKeys;
  to_phone: MailboxKeys;
}

const recipient: Schema<string> = z.string().check(z.refine(isHybridRecipient));

const messageSchema: Schema<PairMessage> = oneOf<PairMessage>(
  shape<Extract<PairMessage, { t: "commit" }>>({ v: exactly(1), t: exactly("commit"), c: base64urlOf(32) }),
  shape<Extract<PairMessage, { t: "key" }>>({
    v: exactly(1),
    t: exactly("key"),
    recipient,
    nonce: base64urlOf(32),
  }),
  shape<Extract<PairMessage, { t: "reveal" }>>({
    v: exactly(1),
    t: exactly("reveal"),
    sealed: base64urlUpTo(8_192),
  }),
);

const revealSchema: Schema<PairReveal> = shape<PairReveal>({
  key: base64urlOf(32),
  nonce: base64urlOf(32),
  device_name: text(64, 1),
  platform: text(64),
  build: text(128),
});

/** The bytes of a pairing message. */
export function encodePairMessage(message: PairMessage): Bytes {
  return canonicalBytes(message);
}

/** Reads an untrusted pairing message. Throws `bad_request`. */
export function readPairMessage(bytes: Uint8Array): PairMessage {
  return decode(messageSchema, parseCanonical(bytes), "pairing message");
}

/** Reads the opened reveal of step 3. Throws `bad_request`. */
export function readReveal(bytes: Uint8Array): PairReveal {
  return decode(revealSchema, parseCanonical(bytes), "pairing reveal");
}

/** The link behind the QR: `<pwa origin>/#p=<base64url of JCS [1, relay, rendezvous, hash, secret, expiry]>`. */
export function pairingUrl(pwaOrigin: string, offer: PairingOffer): string {
  const { relay, rendezvous, recipient_sha256, secret, expires_ms } = offer;
  const packed = canonicalBytes([1, relay, rendezvous, recipient_sha256, secret, expires_ms]);
  return `${pwaOrigin}/#p=${toBase64url(packed)}`;
}

/** The offer in a pairing link. Throws `pairing_refused` with what to do. */
export function readPairingUrl(url: string): PairingOffer {
  const refuse = () =>
    new CustosError(
      "pairing_refused",
      "This is not a custos pairing link. Scan the code in the terminal again.",
    );
  const packed = fromBase64url(/#p=([A-Za-z0-9_-]{1,4096})$/.exec(url)?.[1] ?? "");
  if (packed === null || packed.length === 0) throw refuse();
  let parts: unknown;
  try {
    parts = JSON.parse(fromUtf8(packed));
  } catch {
    throw refuse();
  }
  if (!Array.isArray(parts) || parts.length !== 6 || parts[0] !== 1) throw refuse();
  const [, relay, rendezvous, recipient_sha256, secret, expires_ms] = parts;
  const strings = [relay, rendezvous, recipient_sha256, secret].every((part) => typeof part === "string");
  if (!strings || !/^https?:\/\//.test(relay) || !URL.canParse(relay) || new URL(relay).origin !== relay) {
    throw refuse();
  }
  if (fromBase64url(secret)?.length !== 16 || fromBase64url(recipient_sha256)?.length !== 32) throw refuse();
  if (!Number.isSafeInteger(expires_ms) || !/^[a-z2-7]{26}$/.test(rendezvous)) throw refuse();
  return { relay, rendezvous, recipient_sha256, secret, expires_ms };
}

/** `H("custos/pair-recipient/v1", recipient)` as base64url. */
export async function pairRecipientHash(oneTimeRecipient: string): Promise<string> {
  return toBase64url(await labelledHash("pair_recipient", utf8(oneTimeRecipient)));
}

/** The mailboxes of steps 1 to 3, which both sides know from the QR. */
export async function rendezvousMailboxes(
  secret: Uint8Array,
  rendezvous: string,
): Promise<{ to_daemon: MailboxKeys; to_phone: MailboxKeys }> {
  const mailbox = async (direction: string) =>
    splitMailbox(await deriveKey("rendezvous", secret, utf8(rendezvous), utf8(direction), 80));
  return { to_daemon: await mailbox("to_daemon"), to_phone: await mailbox("to_phone") };
}

/** Step 1: `c = H("custos/commit/v1", nP || kP)`; both parts 32 bytes. */
export async function commitment(nonce: Uint8Array, key: Uint8Array): Promise<Bytes> {
  return await labelledHash("commit", concat(nonce, key));
}

/** Whether a reveal opens the commitment of step 1. */
export async function opensCommitment(c: string, reveal: PairReveal): Promise<boolean> {
  const expected = await commitment(fromBase64url(reveal.nonce)!, fromBase64url(reveal.key)!);
  return equalBytes(expected, fromBase64url(c) ?? new Uint8Array(0));
}

/**
 * Step 4: the transcript and all keys. `c`, `nonce` and `sealed` are the fields as they travelled (base64url);
 * `phoneKey` and `secret` are bytes.
 *
 * The words come from what was fixed before either side saw the other's part: all but `sealed`, of which whoever plays the
 * phone could make ten thousand after it saw the nonce, until the first word fits. The keys depend on `sealed` too.
 */
export async function pairingKeys(
  parts: {
    c: string;
    recipient: string;
    nonce: string;
    sealed: string;
    phoneKey: Uint8Array;
    secret: Uint8Array;
  },
): Promise<PairingKeys> {
  const { c, recipient, nonce, sealed } = parts;
  const transcript = await labelledHash("pair", canonicalBytes([1, c, recipient, nonce, sealed]));
  const agreed = await labelledHash("pair", canonicalBytes([1, c, recipient, nonce]));
  const shared = concat(parts.phoneKey, parts.secret);
  const none = new Uint8Array(0);
  const mailbox = async (direction: string) =>
    splitMailbox(await deriveKey("mailbox", shared, transcript, utf8(direction), 80));
  return {
    transcript,
    words: toWords(await deriveKey("sas", shared, agreed, none, 8)),
    channel: toHex(await deriveKey("channel_id", shared, transcript, none, 16)),
    root: await deriveKey("channel_root", shared, transcript, none, 32),
    to_daemon: await mailbox("to_daemon"),
    to_phone: await mailbox("to_phone"),
  };
}

/** Step 6: the challenge of a new passkey, `H("custos/register/v1", T)`. */
export async function registerChallenge(transcript: Uint8Array): Promise<Bytes> {
  return await labelledHash("register", transcript);
}

/** The challenge with which a known passkey gets a new channel, `H("custos/repair/v1", T)`. */
export async function repairChallenge(transcript: Uint8Array): Promise<Bytes> {
  return await labelledHash("repair", transcript);
}

function splitMailbox(bytes: Bytes): MailboxKeys {
  return {
    id: toBase32(bytes.subarray(0, 16)),
    read_token: toBase64url(bytes.subarray(16, 48)),
    write_token: toBase64url(bytes.subarray(48, 80)),
  };
}
