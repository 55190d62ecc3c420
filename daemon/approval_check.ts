/**
 * What an approval must say to be true: about this request, this daemon and this device; over this policy log; with the
 * stored header and the key that opens it (DESIGN §6.3 steps 2 to 4). The signature itself is checked by
 * `webauthn_check.ts`; nothing here changes any state.
 */

import { approvalHash, readFileKey, replyToHash } from "@custos/core/approval";
import { type Bytes, equalBytes, fromBase64url } from "@custos/core/bytes";
import { keyOpensHeader, openWithIdentity, splitHeader } from "@custos/core/custody";
import { covers, type Grant, readGrant } from "@custos/core/grant";
import type { Decision } from "@custos/core/messages";
import { contentHash } from "@custos/core/content";
import { type DeviceRecord, entryHash } from "@custos/core/policy_entry";
import { nameOfHandle, type RequestDoc } from "@custos/core/request";
import { droppedSecret, refuse, type Subject } from "./approval_subject.ts";
import type { AuditLog } from "./audit_log.ts";
import { changedSecret } from "./policy_change_check.ts";
import type { Addition, PolicyStore } from "./policy_store.ts";
import type { StoredRequest } from "./request_store.ts";

type Approval = Extract<Decision, { decision: "grant" }>;

/** An approval that says only what may be said. */
export interface CheckedApproval {
  addition: Addition;
  grant: { grant: Grant; file_key: Bytes; name: string } | null;
}

/** What the daemon knows beside the stores. */
export interface CheckContext {
  daemon: string;
  /** Private half of the request's `reply_to`; `null` after a restart. */
  replyIdentity: string | null;
  /** The approval hash that the daemon computed itself. */
  approval: Bytes;
}

/** Checks an approval. Throws `bad_request` that says what does not fit. */
export async function checkApproval(
  policies: PolicyStore,
  audit: AuditLog,
  request: StoredRequest,
  decision: Approval,
  device: DeviceRecord,
  context: CheckContext,
): Promise<CheckedApproval> {
  const { bundle } = decision;
  const { doc } = request;
  if (bundle.daemon !== context.daemon) throw refuse("it is for another daemon");
  if (bundle.device !== device.device_id) throw refuse("it is by another device than the one that sent it");
  if (bundle.request_hash !== request.hash) throw refuse("it is for another request");
  if (decision.assertion.credential_id !== device.credential_id) {
    throw refuse("its passkey is not this device's");
  }
  if (bundle.reply_to_sha256 !== null && bundle.reply_to_sha256 !== await replyToHash(doc.reply_to)) {
    throw refuse("its key is for another run of the daemon");
  }
  if (!audit.gaveOut(bundle.audit_head)) throw refuse("it cosigns an audit log that is not this daemon's");
  await checkEntries(policies, decision, context.approval);

  const secret = await subjectOf(policies, doc, request.hash, decision);
  if (bundle.policy_hash !== secret.policy_hash) throw refuse("it is for another version of the policy");
  if (bundle.header_sha256 !== secret.header_sha256) throw refuse("it is for another ciphertext");
  const state = await policies.preview(decision.records);
  const deleted = secret.deleted ? secret.policy.secret_id : null;
  const addition: Addition = { records: decision.records, state, secret: secret.stored, deleted };
  if (bundle.grant === undefined) {
    if (doc.type !== "drop" && doc.type !== "policy") throw refuse("it grants nothing");
    return { addition, grant: null };
  }
  if (doc.type === "policy") throw refuse("a change of a policy grants nothing");
  const grant = readGrant(bundle.grant, secret.policy);
  if (grant.request_hash !== request.hash || grant.policy_hash !== secret.policy_hash) {
    throw refuse("its grant is for another request or policy");
  }
  if (grant.agent !== doc.agent.name) throw refuse("its grant is for another agent");
  await checkCovers(doc, grant);
  const file_key = await openKey(decision, secret.header, secret.header_sha256, context);
  return { addition, grant: { grant, file_key, name: secret.policy.name } };
}

/** The secret that the request is about: the latest of an existing one, or the one that a drop brings. */
async function subjectOf(
  policies: PolicyStore,
  doc: RequestDoc,
  hash: string,
  decision: Approval,
): Promise<Subject> {
  if (doc.type === "drop") return await droppedSecret(policies, hash, decision);
  if (doc.type === "policy") return await changedSecret(policies, doc, decision);
  if (doc.type !== "http" && doc.type !== "access") {
    throw refuse("this version cannot carry out such a request");
  }
  if (decision.records.length > 0 || decision.age_file !== null || decision.policy !== null) {
    throw refuse("it adds to the policy log, which this request does not ask for");
  }
  const secret = policies.byName(nameOfHandle(doc.handle) ?? "");
  const same = secret?.secret_id === doc.secret_id && secret.policy_hash === doc.policy_hash &&
    secret.header_sha256 === doc.header_sha256;
  if (secret === undefined || !same) throw refuse("the secret has changed since the card was sent");
  const { header } = splitHeader(secret.age_file);
  return {
    policy: secret.policy,
    policy_hash: secret.policy_hash,
    header,
    header_sha256: secret.header_sha256,
    stored: null,
    deleted: false,
  };
}

/** The bundle names exactly the entries that came with it, over a head that the log has or had. */
async function checkEntries(
  policies: PolicyStore,
  { bundle, records }: Approval,
  approval: Bytes,
): Promise<void> {
  const { head } = policies;
  const adds = bundle.entries.length > 0;
  const onHead = bundle.log_head.size === head.size && bundle.log_head.head === head.head;
  if (adds ? !onHead : !policies.hadHead(bundle.log_head)) {
    throw refuse("it was signed over another policy log");
  }
  const hashes = await Promise.all(records.map((record) => entryHash(record.entry)));
  const same = hashes.length === bundle.entries.length &&
    hashes.every((hash, i) => hash === bundle.entries[i]);
  if (!same) throw refuse("its entries are not the ones that were signed");
  for (const { signed } of records) {
    const own = signed.kind === "passkey" && equalBytes(await approvalHash(signed.bundle), approval);
    if (!own) throw refuse("an entry is signed by another approval");
  }
}

/** A grant must at least allow what was asked; else the person would have approved something that helps nobody. */
async function checkCovers(doc: RequestDoc, grant: Grant): Promise<void> {
  if (doc.type !== "http") return;
  const { method, url, headers, body_sha256 } = doc.http;
  const target = new URL(url);
  const content_sha256 = await contentHash({ method, url, headers, body_sha256 });
  const use = { agent: doc.agent.name, origin: target.origin, method, path: target.pathname, content_sha256 };
  if (!covers(grant, use)) throw refuse("its grant does not allow the request that was asked");
}

async function openKey(
  decision: Approval,
  header: Bytes,
  header_sha256: string,
  { replyIdentity, approval }: CheckContext,
): Promise<Bytes> {
  const sealed = decision.sealed_key === null ? null : fromBase64url(decision.sealed_key);
  if (sealed === null || decision.bundle.reply_to_sha256 === null) throw refuse("it grants without a key");
  if (replyIdentity === null) throw refuse("the daemon that asked has been restarted");
  const file_key = readFileKey(await openWithIdentity(replyIdentity, sealed), approval, header_sha256);
  if (!await keyOpensHeader(header, file_key)) throw refuse("its key does not open this secret");
  return file_key;
}
