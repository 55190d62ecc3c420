/**
 * What a card must be before a person may approve it (DESIGN §6.3 step 1). Everything shown comes from the one document
 * that is hashed; secret, policy and header must be the latest of this phone's own verified log, else one touch on a
 * harmless card could open another secret.
 */

import { type Bytes, fromBase64url, toBase64url } from "@custos/core/bytes";
import { headerHash, splitHeader } from "@custos/core/custody";
import { fingerprintOf } from "@custos/core/fingerprint";
import { type Policy, policyHash, readPolicy } from "@custos/core/policy";
import { checkNextVersion, type Widening, widenings } from "@custos/core/policy_change";
import { handleOf, readRequest, type RequestDoc, requestHash, type RequestOf } from "@custos/core/request";
import { checkTarget, parseTarget, type Target } from "@custos/core/target";
import type { CardMessage, PhoneRecord } from "./phone_store.ts";

/** Why a card cannot be approved. It can still be denied. */
export type CardRefusal =
  | "document"
  | "other_daemon"
  | "expired"
  | "unsupported_type"
  | "incomplete"
  | "unknown_secret"
  | "not_latest_policy"
  | "not_latest_header"
  | "policy_bytes"
  | "header_bytes"
  | "other_secret"
  | "other_epoch"
  | "handle"
  | "target"
  | "change";

/** A card of one of the types that this phone can approve. `hash` is the request hash as bytes. */
export type VerifiedCard =
  & { hash: Bytes; request_hash: string; words: string; previous: RequestDoc | null }
  & (
    | { type: "drop"; doc: RequestOf<"drop"> }
    | { type: "access"; doc: RequestOf<"access">; policy: Policy; header: Bytes }
    | { type: "http"; doc: RequestOf<"http">; policy: Policy; header: Bytes; target: Target }
    /** `wider` lists what a new version allows beyond the one in force; empty for a deletion. */
    | { type: "policy"; doc: RequestOf<"policy">; policy: Policy; header: Bytes; wider: Widening[] }
  );

/** The outcome; refusal comes first. Hash and words are there on both paths, so that a person can compare and deny. */
export type CardVerdict =
  | { ok: false; why: CardRefusal; message: string; request_hash: string; words: string }
  | { ok: true; card: VerifiedCard };

/** What each refusal says to a person. */
export const CARD_REFUSALS: Readonly<Record<CardRefusal, string>> = {
  document: "The card's document is not one this phone reads.",
  other_daemon: "The card is from another computer than the one this phone is paired with.",
  expired: "The request has expired by the computer's own clock.",
  unsupported_type: "This phone cannot approve this kind of request. It can be denied.",
  incomplete: "The card comes without the secret's policy and header, or with some that do not belong to it.",
  unknown_secret: "The card names a secret that is not in the log this phone has verified.",
  not_latest_policy: "The card's policy is not the latest of its secret.",
  not_latest_header: "The card's ciphertext is not the latest of its secret.",
  policy_bytes: "The policy that came with the card is not the one that the card names.",
  header_bytes: "The header that came with the card is not the one that the card names.",
  other_secret: "The policy that came with the card is of another secret.",
  other_epoch: "The secret is sealed for older keys of this device.",
  handle: "The card calls the secret by another name than its policy does.",
  target: "The request goes where the secret's policy does not allow.",
  change: "The changed policy does not follow the one in force.",
};

/** The hash and the words of a request, as this phone computes them. */
export async function identify(
  wordsKey: string,
  doc: RequestDoc,
): Promise<{ hash: Bytes; request_hash: string; words: string }> {
  const hash = await requestHash(doc);
  const words = await fingerprintOf(fromBase64url(wordsKey) ?? new Uint8Array(0), hash);
  return { hash, request_hash: toBase64url(hash), words };
}

/**
 * Holds a card against what this phone knows. Nothing is refused by the phone's own clock: a card has expired when the
 * daemon itself has stated a later time (DESIGN §7).
 */
export async function verifyCard<K>(record: PhoneRecord<K>, message: CardMessage): Promise<CardVerdict> {
  const found = await identify(record.words_key, message.doc);
  const { request_hash, words } = found;
  const result = await checkCard(record, message, found);
  if (typeof result !== "string") return { ok: true, card: result };
  return { ok: false, why: result, message: CARD_REFUSALS[result], request_hash, words };
}

async function checkCard<K>(
  record: PhoneRecord<K>,
  message: CardMessage,
  found: { hash: Bytes; request_hash: string; words: string },
): Promise<VerifiedCard | CardRefusal> {
  const { doc } = message;
  const { state } = record.log;
  if (!reads(() => readRequest(doc))) return "document";
  // The name shown is the one of the log, fixed at pairing: two computers cannot be taken for one another (B150).
  if (doc.daemon !== record.daemon || doc.daemon_name !== state.daemon_name) return "other_daemon";
  if (doc.expires_ms <= record.daemon_now_ms) return "expired";
  const previous = message.previous?.type === doc.type ? message.previous : null;
  if (doc.type === "drop") {
    if (message.policy !== null || message.header !== null) return "incomplete";
    return { ...found, previous, type: "drop", doc };
  }
  if (doc.type !== "http" && doc.type !== "access" && doc.type !== "policy") return "unsupported_type";
  const secret = await checkSecret(record, message, doc);
  if (typeof secret === "string") return secret;
  if (doc.type === "access") return { ...found, previous, type: "access", doc, ...secret };
  if (doc.type === "policy") {
    const wider = await checkChange(secret.policy, doc);
    return wider === null ? "change" : { ...found, previous, type: "policy", doc, ...secret, wider };
  }
  const target = checkedTarget(secret.policy, doc);
  return target === null ? "target" : { ...found, previous, type: "http", doc, ...secret, target };
}

async function checkSecret<K>(
  record: PhoneRecord<K>,
  message: CardMessage,
  doc: RequestOf<"http"> | RequestOf<"access"> | RequestOf<"policy">,
): Promise<{ policy: Policy; header: Bytes } | CardRefusal> {
  const { policy } = message;
  const header = message.header === null ? null : fromBase64url(message.header);
  if (policy === null || header === null) return "incomplete";
  const latest = record.log.state.secrets.get(doc.secret_id);
  if (latest === undefined) return "unknown_secret";
  if (doc.policy_hash !== latest.policy_hash) return "not_latest_policy";
  if (doc.header_sha256 !== latest.header_sha256) return "not_latest_header";
  if (!reads(() => readPolicy(policy)) || await policyHash(policy) !== doc.policy_hash) return "policy_bytes";
  if (await headerHash(header) !== doc.header_sha256 || !isWholeHeader(header)) return "header_bytes";
  if (policy.secret_id !== doc.secret_id) return "other_secret";
  if (policy.epoch !== record.log.state.epoch || latest.epoch !== policy.epoch) return "other_epoch";
  if (doc.handle !== handleOf(policy.name)) return "handle";
  return { policy, header };
}

/** What a change widens, or `null` unless it is the next version of this very policy. */
async function checkChange(policy: Policy, { change }: RequestOf<"policy">): Promise<Widening[] | null> {
  if (change.kind === "delete") return [];
  try {
    await checkNextVersion(policy, change.policy);
    return widenings(policy, change.policy);
  } catch {
    return null;
  }
}

/** The parsed target, or `null` unless what is shown is exactly what would be sent, and the policy allows it. */
function checkedTarget(policy: Policy, doc: RequestOf<"http">): Target | null {
  try {
    const target = parseTarget(doc.http.method, doc.http.url);
    if (target.method !== doc.http.method || target.url !== doc.http.url) return null;
    checkTarget(policy, target);
    return target;
  } catch {
    return null;
  }
}

function isWholeHeader(header: Bytes): boolean {
  return reads(() => splitHeader(header)) && splitHeader(header).body.length === 0;
}

function reads(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
