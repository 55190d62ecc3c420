/**
 * A change of a secret on the phone: a new version of its policy, or its end (DESIGN §6.3). A new version needs two
 * touches, each with a tap of its own (B122): the first opens the file, so that the phone can seal it anew with the new
 * policy inside; the second signs the entry. An end needs only the signature.
 */

import { approvalHash, type Bundle } from "@custos/core/approval";
import { type Bytes, fromBase64url, randomBytes, toBase64url } from "@custos/core/bytes";
import { headerHash, openWithIdentity, readSecret, sealSecret, splitHeader } from "@custos/core/custody";
import { CustosError } from "@custos/core/errors";
import { MAX_PLAINTEXT_BYTES } from "@custos/core/frame";
import type { Decision } from "@custos/core/messages";
import { type Policy, policyHash, readPolicy } from "@custos/core/policy";
import {
  type Entry,
  type EntryBody,
  entryHash,
  type EntryRecord,
  genesisPrev,
} from "@custos/core/policy_entry";
import { applyEntry, recipientsOf } from "@custos/core/policy_log";
import { checkSecretValue } from "@custos/core/secret_value";
import { bundleOf, requireCard } from "./approve.ts";
import type { VerifiedCard } from "./card.ts";
import { decide } from "./outbox.ts";
import type { PhoneParts } from "./phone_parts.ts";
import { type PhoneRecord, requireRecord } from "./phone_store.ts";
import { type AskedDevice, askedDevice, touchAsked, touchDevice } from "./touch.ts";

/** What a person may change. The name is the handle that agents know, and stays. */
export type PolicyEdit = Pick<Policy, "origins" | "rules" | "placement" | "limits">;

/** A change that waits for its signature. It holds no value and no key. */
export interface PreparedChange {
  request_hash: string;
  /** The new version, or `null` for the end of the secret. */
  policy: Policy | null;
  /** The new ciphertext, base64url. */
  age_file: string | null;
  entry: Entry;
  bundle: Bundle;
  /** The approval hash, which the touch signs. */
  challenge: Bytes;
  device: AskedDevice;
}

/** What a decision holds beside the file, at most, in bytes. */
const SIGNED_BYTES = 8_192;

type ChangeCard = Extract<VerifiedCard, { type: "policy" }>;
type Parts<K> = Pick<PhoneParts<K>, "store" | "authenticator" | "now">;

/** The next version of a policy with these fields. Throws `bad_request` that says what cannot be. */
export async function nextPolicy(policy: Policy, edit: PolicyEdit, now_ms: number): Promise<Policy> {
  const { origins, rules, placement, limits } = edit;
  return readPolicy({
    ...policy,
    version: policy.version + 1,
    prev: await policyHash(policy),
    origins,
    rules,
    placement,
    limits,
    request_hash: null,
    created_ms: now_ms,
  });
}

/**
 * Makes a change ready to be signed. For a new version one touch opens the file that came with the card, which must be the
 * log's latest and hold the policy in force; the value is sealed to everybody in the log, and wiped.
 *
 * Throws `bad_request` where the file is missing or is not the one, or the value does not fit the new place;
 * `body_too_large` where the result would fit into no message; `no_device` where the passkey gives another key.
 */
export async function prepareChange<K>(
  parts: Parts<K>,
  daemon: string,
  request_hash: string,
): Promise<PreparedChange> {
  const record = await requireRecord(parts.store, daemon);
  const card = await requireChange(record, request_hash);
  const { doc } = card;
  const { secret_id } = doc;
  if (doc.change.kind === "delete") {
    const { policy_hash, header_sha256 } = doc;
    const body: EntryBody = { type: "secret_delete", secret_id };
    const signed = await signable(record, card, body, { policy_hash, header_sha256 }, parts.now());
    return { request_hash, policy: null, age_file: null, ...signed };
  }
  const { policy } = doc.change;
  const stored = record.cards.find((one) => one.request_hash === request_hash)?.age_file ?? null;
  const file = await sealAnew(parts, record, card, policy, stored === null ? null : fromBase64url(stored));
  const policy_hash = await policyHash(policy);
  const header_sha256 = await headerHash(splitHeader(file).header);
  const body: EntryBody = { type: "policy_set", secret_id, policy_hash, header_sha256, epoch: policy.epoch };
  const signed = await signable(record, card, body, { policy_hash, header_sha256 }, parts.now());
  return { request_hash, policy, age_file: toBase64url(file), ...signed };
}

/**
 * Signs a prepared change with one touch, and puts the decision into the outbox. Throws `bad_request` where the log has
 * moved on since it was prepared. A `DOMException` means that the person cancelled: it can be signed again.
 */
export async function signChange<K>(
  parts: Parts<K>,
  daemon: string,
  prepared: PreparedChange,
): Promise<void> {
  const { request_hash, policy, age_file, entry, bundle, challenge, device } = prepared;
  const { assertion } = await touchAsked(parts.authenticator, device, challenge);
  const record = await requireRecord(parts.store, daemon);
  await requireChange(record, request_hash);
  if (record.log.state.head !== bundle.log_head.head) {
    throw new CustosError("bad_request", "The computer's list has changed meanwhile. Open the change again.");
  }
  const signed: EntryRecord = { entry, signed: { kind: "passkey", bundle, assertion } };
  await applyEntry(record.log.state, signed); // what this phone would refuse from others it does not send
  const decision: Decision = {
    t: "decision",
    decision: "grant",
    request_hash,
    bundle,
    assertion,
    sealed_key: null,
    age_file,
    policy,
    records: [signed],
  };
  await parts.store.update(
    daemon,
    (latest) => Promise.resolve([decide(latest, decision, parts.now()), undefined]),
  );
}

async function requireChange<K>(record: PhoneRecord<K>, request_hash: string): Promise<ChangeCard> {
  const card = await requireCard(record, request_hash);
  if (card.type === "policy") return card;
  throw new CustosError("bad_request", "This card does not change a secret.");
}

/** Opens the ciphertext in force, and seals its value with the new policy. */
async function sealAnew<K>(
  parts: Parts<K>,
  record: PhoneRecord<K>,
  card: ChangeCard,
  policy: Policy,
  file: Bytes | null,
): Promise<Bytes> {
  if (file === null) {
    throw new CustosError("bad_request", "The computer has not sent the secret's file yet. Wait a moment.");
  }
  if (await headerHash(splitHeader(file).header) !== card.doc.header_sha256) throw anotherFile();
  // The challenge of this touch is nobody's approval: the touch only opens.
  const { identity } = await touchDevice(parts.authenticator, record, randomBytes(32));
  const plaintext = await openWithIdentity(identity, file);
  let value: Bytes | null = null;
  try {
    const opened = readSecret(plaintext);
    value = opened.value;
    if (await policyHash(opened.policy) !== card.doc.policy_hash) throw anotherFile();
    const checked = checkSecretValue(value, policy.placement);
    if (checked.notices.length > 0) throw anotherFile();
    const sealed = await sealSecret(recipientsOf(record.log.state), policy, value);
    checked.value.fill(0);
    if (sealed.length * 4 / 3 + SIGNED_BYTES <= MAX_PLAINTEXT_BYTES) return sealed;
    throw new CustosError(
      "body_too_large",
      "The value and its rules are too long to be sent in one message.",
    );
  } finally {
    plaintext.fill(0);
    value?.fill(0);
  }
}

function anotherFile(): CustosError {
  return new CustosError(
    "bad_request",
    "The file that came with this card is not the secret's. Nothing was changed.",
  );
}

async function signable<K>(
  record: PhoneRecord<K>,
  card: ChangeCard,
  body: EntryBody,
  subject: { policy_hash: string; header_sha256: string },
  now_ms: number,
): Promise<Pick<PreparedChange, "entry" | "bundle" | "challenge" | "device">> {
  const { state } = record.log;
  const entry: Entry = { v: 1, seq: state.size, prev: state.head ?? await genesisPrev(record.daemon), body };
  const bundle: Bundle = {
    ...bundleOf(record, card, null, now_ms),
    ...subject,
    entries: [await entryHash(entry)],
  };
  return { entry, bundle, challenge: await approvalHash(bundle), device: await askedDevice(record) };
}
