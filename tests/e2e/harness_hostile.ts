/**
 * A phone that makes its approvals by hand, so that a test can change any one thing in them. What is signed is signed with
 * the real passkey of the house, unless a row says otherwise: only one thing is wrong at a time.
 */

import { approvalHash, type Bundle, replyToHash, sealFileKey } from "@custos/core/approval";
import type { Assertion } from "@custos/core/assertion";
import { type Bytes, fromBase64url, fromUtf8 } from "@custos/core/bytes";
import { openHeader } from "@custos/core/custody";
import { deriveDeviceKeys, prfInputs } from "@custos/core/device_keys";
import type { Grant } from "@custos/core/grant";
import type { Decision } from "@custos/core/messages";
import { defaultOffer, type GrantCard, grantFor, logHeadOf, requireCard, type StoredCard } from "@custos/pwa";
import type { House } from "./harness.ts";

/** An approval, as it travels. */
export type Approval = Extract<Decision, { decision: "grant" }>;

/** What is to be wrong. Each is a function of what would be right. */
export interface Wrong {
  grant?: (grant: Grant) => Grant;
  bundle?: (bundle: Bundle) => Bundle;
  file_key?: (key: Bytes) => Bytes;
  /** The hash to which the sealed key is bound. */
  bound_to?: (challenge: Bytes) => Bytes;
  /** Signs in place of the house's passkey. */
  sign?: (challenge: Bytes) => Promise<Assertion>;
  /** Changes the finished message, after everything was signed. */
  decision?: (decision: Approval) => Approval;
}

/** A card of an HTTP or access request, as the phone's own code verified it. */
export async function grantCard(house: House, stored: StoredCard): Promise<GrantCard> {
  await house.phone.verified(stored);
  const card = await requireCard(await house.phone.record(), stored.request_hash);
  if (card.type !== "http" && card.type !== "access") throw new Error("This card asks for no grant.");
  return card;
}

/** An approval of a card for this once, right but for what is said. */
export async function approvalOf(house: House, stored: StoredCard, wrong: Wrong = {}): Promise<Approval> {
  const record = await house.phone.record();
  const card = await grantCard(house, stored);
  const { doc, request_hash } = card;
  const same = <T>(value: T) => value;
  const grant = (wrong.grant ?? same)(await grantFor(card, defaultOffer(card)));
  const bundle = (wrong.bundle ?? same)({
    v: 1,
    daemon: record.daemon,
    device: record.device,
    decision: "grant",
    request_hash,
    policy_hash: doc.policy_hash,
    grant,
    header_sha256: doc.header_sha256,
    reply_to_sha256: await replyToHash(doc.reply_to),
    entries: [],
    log_head: logHeadOf(record),
    audit_head: record.audit_head,
    issued_ms: Date.now(),
  });
  const challenge = await approvalHash(bundle);
  const assertion = await (wrong.sign ?? ((hash) => touch(house, hash)))(challenge);
  const key = (wrong.file_key ?? same)(await fileKeyOf(house, card.header));
  const bound = (wrong.bound_to ?? same)(challenge);
  const sealed_key = await sealFileKey(doc.reply_to, bound, bundle.header_sha256 ?? "", key);
  return (wrong.decision ?? same)({
    t: "decision",
    decision: "grant",
    request_hash,
    bundle,
    assertion,
    sealed_key,
    age_file: null,
    policy: null,
    records: [],
  });
}

/** One touch of the house's passkey. It is as wrong as `authenticator.misbehave` says. */
export async function touch(house: House, challenge: Bytes): Promise<Assertion> {
  const { credential_id, client_data_json, authenticator_data, signature } = await prfTouch(house, challenge);
  return { credential_id, client_data_json, authenticator_data, signature };
}

async function prfTouch(house: House, challenge: Bytes) {
  const record = await house.phone.record();
  const device = record.log.state.devices.get(record.device)!;
  return await house.authenticator.get({
    rp_id: device.rp_id,
    challenge,
    allow_credentials: [fromBase64url(device.credential_id)!],
    prf: await prfInputs(record.daemon, record.log.state.epoch),
  });
}

/** The identity that a touch of this phone gives: it opens every header of the epoch. */
export async function identityOf(house: House): Promise<string> {
  const { prf } = await prfTouch(house, new Uint8Array(32));
  return (await deriveDeviceKeys(prf)).identity.expose(fromUtf8);
}

/** The file key of a header, as the phone opens it. */
export async function fileKeyOf(house: House, header: Uint8Array): Promise<Bytes> {
  const wrong = house.authenticator.credentials.misbehave;
  house.authenticator.misbehave = {};
  const key = await openHeader(await identityOf(house), header);
  house.authenticator.misbehave = wrong;
  return key;
}
