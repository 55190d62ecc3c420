/** Approving an access or http card: one touch signs the bundle and opens the secret's header (DESIGN §6.3). */

import { approvalHash, type Bundle, replyToHash, sealFileKey } from "@custos/core/approval";
import { openHeader } from "@custos/core/custody";
import { CustosError } from "@custos/core/errors";
import type { Grant } from "@custos/core/grant";
import type { Decision } from "@custos/core/messages";
import { type VerifiedCard, verifyCard } from "./card.ts";
import { type GrantCard, grantFor, type Offer } from "./offers.ts";
import { decide, requirePending } from "./outbox.ts";
import type { PhoneParts } from "./phone_parts.ts";
import { logHeadOf, type PhoneRecord, requireRecord, requireTrust, type StoredCard } from "./phone_store.ts";
import { touchDevice } from "./touch.ts";

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

/**
 * Approves a card with an offer: verifies the card once more, asks for one touch, opens the header, seals the file key to
 * the daemon's one-time recipient, and puts the decision into the outbox. Returns the grant.
 *
 * Throws `bad_request` and other kinds where the card cannot be approved, `no_device` where the passkey gives another
 * key, and lets the browser's `DOMException` through when the person cancelled: then nothing has changed (B121).
 */
export async function approve<K>(
  parts: Pick<PhoneParts<K>, "store" | "authenticator" | "now">,
  daemon: string,
  request_hash: string,
  offer: Offer,
): Promise<Grant> {
  const record = await requireRecord(parts.store, daemon);
  const card = await requireCard(record, request_hash);
  if (card.type === "drop") {
    throw new CustosError("bad_request", "This card asks for a secret. Answer it with a value: drop.");
  }
  if (card.type === "policy") {
    throw new CustosError("bad_request", "This card changes a secret. Open and sign the change.");
  }
  const { decision, grant } = await signGrant(parts, record, card, offer);
  await parts.store.update(
    daemon,
    (latest) => Promise.resolve([decide(latest, decision, parts.now()), undefined]),
  );
  return grant;
}

async function signGrant<K>(
  parts: Pick<PhoneParts<K>, "authenticator" | "now">,
  record: PhoneRecord<K>,
  card: GrantCard,
  offer: Offer,
): Promise<{ decision: Decision; grant: Grant }> {
  const grant = await grantFor(card, offer);
  const { policy_hash, header_sha256, reply_to } = card.doc;
  const base = bundleOf(record, card, await replyToHash(reply_to), parts.now());
  const bundle: Bundle = { ...base, policy_hash, header_sha256, grant };
  const challenge = await approvalHash(bundle);
  const { assertion, identity } = await touchDevice(parts.authenticator, record, challenge);
  const fileKey = await openHeader(identity, card.header);
  const sealed_key = await sealFileKey(reply_to, challenge, header_sha256, fileKey);
  fileKey.fill(0);
  const decision: Decision = {
    t: "decision",
    decision: "grant",
    request_hash: card.request_hash,
    bundle,
    assertion,
    sealed_key,
    age_file: null,
    policy: null,
    records: [],
  };
  return { decision, grant };
}
