/** Approving an access or http card: one touch signs the bundle and opens the secret's header (DESIGN §6.3). */

import { approvalHash, type Bundle, replyToHash, sealFileKey } from "@custos/core/approval";
import type { Bytes } from "@custos/core/bytes";
import { openHeader } from "@custos/core/custody";
import { CustosError } from "@custos/core/errors";
import type { Grant } from "@custos/core/grant";
import type { Decision } from "@custos/core/messages";
import { type VerifiedCard, verifyCard } from "./card.ts";
import { type GrantCard, grantFor, type Offer } from "./offers.ts";
import { decide, requirePending } from "./outbox.ts";
import type { PhoneParts } from "./phone_parts.ts";
import { logHeadOf, type PhoneRecord, requireRecord, requireTrust, type StoredCard } from "./phone_store.ts";
import { type AskedDevice, askedDevice, touchAsked } from "./touch.ts";

/** A stored card that may be answered: pending, shown, and what it must be. Throws else, with the card's words. */
export async function requireCard<K>(record: PhoneRecord<K>, request_hash: string): Promise<VerifiedCard> {
  requireTrust(record);
  const stored = record.cards.find((card) => card.request_hash === request_hash);
  if (stored === undefined) throw new CustosError("unknown_request", "There is no such card on this phone.");
  requirePending(stored);
  if (stored.held !== null) {
    throw refused(stored, "too_many_pending", `This card is held back: ${stored.held}.`);
  }
  const verdict = await verifyCard(record, stored.message);
  if (verdict.ok) return verdict.card;
  throw refused(
    stored,
    verdict.why === "expired" ? "expired" : "bad_request",
    `${verdict.message} Nothing was approved.`,
  );
}

function refused(card: StoredCard, kind: CustosError["kind"], message: string): CustosError {
  return new CustosError(kind, message).withRequest(card.message.doc.id, card.words);
}

/** The part of a bundle that every decision has. */
export function bundleOf<K>(
  record: PhoneRecord<K>,
  card: VerifiedCard,
  reply_to_sha256: string | null,
  issued_ms: number,
): Bundle {
  return {
    v: 1,
    daemon: record.daemon,
    device: record.device,
    decision: "grant",
    request_hash: card.request_hash,
    reply_to_sha256,
    entries: [],
    log_head: logHeadOf(record),
    audit_head: record.audit_head,
    issued_ms,
  };
}

/** An approval that waits for its touch. It holds no key. */
export interface PreparedApproval {
  card: GrantCard;
  grant: Grant;
  bundle: Bundle;
  /** The approval hash, which the touch signs. */
  challenge: Bytes;
  device: AskedDevice;
}

type Parts<K> = Pick<PhoneParts<K>, "store" | "authenticator" | "now">;

/**
 * Makes an approval ready, so that a tap asks the passkey at once (B122). Throws `bad_request` and other kinds where the
 * card cannot be approved with this offer.
 */
export async function prepareApproval<K>(
  parts: Parts<K>,
  daemon: string,
  request_hash: string,
  offer: Offer,
): Promise<PreparedApproval> {
  const record = await requireRecord(parts.store, daemon);
  const card = await requireGrantCard(record, request_hash);
  const grant = await grantFor(card, offer);
  const { policy_hash, header_sha256, reply_to } = card.doc;
  const base = bundleOf(record, card, await replyToHash(reply_to), parts.now());
  const bundle: Bundle = { ...base, policy_hash, header_sha256, grant };
  return { card, grant, bundle, challenge: await approvalHash(bundle), device: await askedDevice(record) };
}

/**
 * Signs a prepared approval with one touch: opens the header, seals the file key to the daemon's one-time recipient, and
 * puts the decision into the outbox. Returns the grant. The card is held against the log once more after the touch, as it
 * may have lain there for minutes.
 *
 * Throws what {@link prepareApproval} throws, `no_device` where the passkey gives another key, and lets the browser's
 * `DOMException` through when the person cancelled: then nothing has changed (B121).
 */
export async function signApproval<K>(
  parts: Parts<K>,
  daemon: string,
  prepared: PreparedApproval,
): Promise<Grant> {
  const { card, grant, bundle, challenge, device } = prepared;
  const { request_hash, header } = card;
  const { assertion, identity } = await touchAsked(parts.authenticator, device, challenge);
  await requireGrantCard(await requireRecord(parts.store, daemon), request_hash);
  const { reply_to, header_sha256 } = card.doc;
  const fileKey = await openHeader(identity, header);
  const sealed_key = await sealFileKey(reply_to, challenge, header_sha256, fileKey);
  fileKey.fill(0);
  const decision: Decision = {
    t: "decision",
    decision: "grant",
    request_hash,
    bundle,
    assertion,
    sealed_key,
    age_file: null,
    policy: null,
    records: [],
  };
  await parts.store.update(
    daemon,
    (latest) => Promise.resolve([decide(latest, decision, parts.now()), undefined]),
  );
  return grant;
}

/** {@link prepareApproval} and {@link signApproval} in one. */
export async function approve<K>(
  parts: Parts<K>,
  daemon: string,
  request_hash: string,
  offer: Offer,
): Promise<Grant> {
  return await signApproval(parts, daemon, await prepareApproval(parts, daemon, request_hash, offer));
}

async function requireGrantCard<K>(record: PhoneRecord<K>, request_hash: string): Promise<GrantCard> {
  const card = await requireCard(record, request_hash);
  if (card.type === "drop") {
    throw new CustosError("bad_request", "This card asks for a secret. Answer it with a value: drop.");
  }
  if (card.type === "policy") {
    throw new CustosError("bad_request", "This card changes a secret. Open and sign the change.");
  }
  return card;
}
