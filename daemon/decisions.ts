/**
 * A phone's answer, checked step by step (DESIGN §6.3 step 4) and carried out whole or not at all. A refused answer
 * changes nothing: the request stays pending, and the person can touch again (B121).
 */

import { approvalHash, type Bundle } from "@custos/core/approval";
import { type Bytes, toBase64url } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import type { Decision } from "@custos/core/messages";
import type { DeviceRecord } from "@custos/core/policy_entry";
import { checkApproval, type CheckedApproval } from "./approval_check.ts";
import { widenings } from "@custos/core/policy_change";
import { nameOfHandle } from "@custos/core/request";
import { describe } from "./asks.ts";
import type { AuditLog } from "./audit_log.ts";
import type { Database } from "./database.ts";
import type { FatigueStore } from "./fatigue_store.ts";
import { deadlines, type Grants, type LiveGrant } from "./grants.ts";
import type { PolicyStore } from "./policy_store.ts";
import type { ReplyKeys } from "./reply_keys.ts";
import type { RequestEnds } from "./request_ends.ts";
import type { RequestStore, StoredRequest } from "./request_store.ts";
import { verifyApproval } from "./webauthn_check.ts";

/** What deciding needs. */
export interface DecisionParts {
  db: Database;
  audit: AuditLog;
  policies: PolicyStore;
  requests: RequestStore;
  ends: RequestEnds;
  fatigue: FatigueStore;
  grants: Grants;
  replyKeys: ReplyKeys;
  daemon: string;
}

type Denial = Extract<Decision, { decision: "deny" }>;
type Approval = Extract<Decision, { decision: "grant" }>;

/** Takes answers from phones, one at a time: the first valid one counts. */
export class Decisions {
  readonly #parts: DecisionParts;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: DecisionParts) {
    this.#parts = parts;
  }

  /**
   * Carries out an answer that came through the channel of `device`. Returns the request as it is afterwards. Throws
   * what was wrong with it; the refusal is in the audit log, once.
   */
  take(device: DeviceRecord, decision: Decision): Promise<StoredRequest> {
    const run = this.#last.then(() => this.#take(device, decision));
    this.#last = run.catch(() => {});
    return run;
  }

  async #take(device: DeviceRecord, decision: Decision): Promise<StoredRequest> {
    const { requests, ends, audit } = this.#parts;
    ends.expireOverdue();
    const request = requests.byHash(decision.request_hash);
    try {
      if (request === undefined) throw new CustosError("unknown_request", "This daemon has no such request.");
      if (decision.decision === "deny") this.#deny(device, request, decision);
      else await this.#approve(device, request, decision);
    } catch (error) {
      const why = error instanceof CustosError ? error.kind : "internal";
      const about = request === undefined ? {} : describe(request.doc, request.fingerprint);
      audit.write({ event: "decision_refused", device: device.device_id, why, ...about });
      throw error;
    }
    return requests.byId(request.id)!;
  }

  /** A denial needs no passkey: the channel authenticates it. After a grant it revokes what the grant allowed. */
  #deny(device: DeviceRecord, request: StoredRequest, decision: Denial): void {
    const { db, requests, audit, fatigue, grants, replyKeys } = this.#parts;
    if (request.status === "denied") return;
    if (request.status === "granted" || request.status === "delivered") {
      grants.end((live) => live.request_id === request.id, "denied_later");
      audit.write({
        event: "denied",
        device: device.device_id,
        why: "after_grant",
        ...describe(request.doc, request.fingerprint),
      });
      return;
    }
    const now = Date.now();
    db.transaction(() => {
      if (!requests.end(request.id, "denied", null, device.name)) throw over(request);
      // A change was begun on a phone: a person who thinks again must not be told to wait.
      if (request.type !== "policy") fatigue.denied(request.cool_key, now);
      const mute = decision.mute_until_ms;
      if (mute !== null) fatigue.mute(request.agent, false, Math.min(mute, now + 86_400_000));
      audit.write({
        event: "denied",
        device: device.device_id,
        ...describe(request.doc, request.fingerprint),
      });
    });
    replyKeys.forget(request.id);
    requests.announce(request.id);
  }

  async #approve(device: DeviceRecord, request: StoredRequest, decision: Approval): Promise<void> {
    const { policies, replyKeys } = this.#parts;
    const { bundle, assertion } = decision;
    const approval = await approvalHash(bundle);
    if (this.#accepted(approval, request)) return; // the same answer again: one effect
    this.#checkOpen(request);
    this.#checkConfirmed(request);
    const checked = await checkApproval(policies, this.#parts.audit, request, decision, device, {
      daemon: this.#parts.daemon,
      replyIdentity: replyKeys.get(request.id) ?? null,
      approval,
    });
    const signed = await verifyApproval(assertion, device, approval, this.#signCount(device));
    if (!signed.ok) throw new CustosError("bad_request", signed.message);
    const hashes = await policies.hashesOf(checked.addition.records);
    this.#carryOut(device, request, bundle, decision, approval, checked, hashes, signed.sign_count);
  }

  /** One synchronous step: everything that was awaited is checked again inside the transaction. */
  #carryOut(
    device: DeviceRecord,
    request: StoredRequest,
    bundle: Bundle,
    decision: Approval,
    approval: Bytes,
    checked: CheckedApproval,
    hashes: readonly string[],
    signCount: number,
  ): void {
    const { db, audit, policies, requests, fatigue, grants, replyKeys } = this.#parts;
    const live = checked.grant === null ? null : this.#live(request, checked);
    db.transaction(() => {
      this.#checkOpen(requests.byId(request.id)!);
      const status = request.type === "drop" ? "delivered" : "granted";
      if (!requests.end(request.id, status, null, device.name)) throw over(request);
      db.run(
        "INSERT INTO approvals (approval_hash, request_hash, bundle, assertion, accepted_ms) VALUES (?, ?, ?, ?, ?)",
        toBase64url(approval),
        request.hash,
        JSON.stringify(bundle),
        JSON.stringify(decision.assertion),
        Date.now(),
      );
      db.run("UPDATE channels SET sign_count = ? WHERE device_id = ?", signCount, device.device_id);
      policies.store(checked.addition, hashes);
      fatigue.granted(request.cool_key);
      if (live !== null) grants.record(live);
      const about = describe(request.doc, request.fingerprint);
      const grant = live === null ? {} : { grant_id: live.grant.grant_id };
      audit.write({
        event: "granted",
        device: device.device_id,
        approval_hash: toBase64url(approval),
        ...about,
        ...grant,
      });
      if (checked.addition.secret !== null) {
        const handle = `custos:${checked.addition.secret.policy.name}`;
        audit.write({ ...about, event: "secret_stored", handle });
      }
    });
    policies.adopt(checked.addition);
    const changed = checked.addition.deleted ?? checked.addition.secret?.policy.secret_id;
    if (changed !== undefined) grants.end(({ grant }) => grant.secret_id === changed, "policy_changed");
    if (live !== null) grants.add(live);
    replyKeys.forget(request.id);
    requests.announce(request.id);
  }

  #live(request: StoredRequest, checked: CheckedApproval): LiveGrant {
    const { grant, file_key, name } = checked.grant!;
    return {
      grant,
      request_id: request.id,
      fingerprint: request.fingerprint,
      name,
      file_key,
      uses_left: grant.max_uses,
      ...deadlines(grant.seconds),
    };
  }

  #accepted(approval: Bytes, request: StoredRequest): boolean {
    const sql = "SELECT request_hash FROM approvals WHERE approval_hash = ?";
    const row = this.#parts.db.get(sql, toBase64url(approval));
    if (row === undefined) return false;
    if (row["request_hash"] !== request.hash) {
      throw new CustosError("bad_request", "This approval was used already.");
    }
    return true;
  }

  #signCount(device: DeviceRecord): number {
    const row = this.#parts.db.get("SELECT sign_count FROM channels WHERE device_id = ?", device.device_id);
    return Number(row?.["sign_count"] ?? 0);
  }

  /** What allows more than before also needs its first word typed where no web page can type (DESIGN §6.4). */
  #checkConfirmed(request: StoredRequest): void {
    const { doc } = request;
    if (doc.type !== "policy" || doc.change.kind !== "set" || request.confirmed) return;
    const secret = this.#parts.policies.byName(nameOfHandle(doc.handle) ?? "");
    if (secret !== undefined && widenings(secret.policy, doc.change.policy).length === 0) return;
    throw new CustosError(
      "needs_approval",
      `This change allows more than before. First type its first word in the terminal: custos policy confirm ${request.id}`,
    ).withRequest(request.id, request.fingerprint);
  }

  /** By this daemon's clock, at receipt (B146). */
  #checkOpen(request: StoredRequest): void {
    if (request.status !== "pending" || Date.now() >= request.expires_ms) throw over(request);
  }
}

function over(request: StoredRequest): CustosError {
  const kind = request.status === "withdrawn"
    ? "withdrawn"
    : request.status === "denied"
    ? "denied"
    : "expired";
  return new CustosError(kind, "This request is no longer open, so the answer changed nothing.")
    .withRequest(request.id, request.fingerprint);
}
