/** `access.*`, `drop.request` and `requests.list`: asking the person, and learning what became of it (DESIGN §9). */

import { CustosError } from "@custos/core/errors";
import { handleOf, REQUEST_LIMITS, type Wanted } from "@custos/core/request";
import { withinPrefix } from "@custos/core/target_path";
import type { Policy } from "@custos/core/policy";
import { DEFAULT_WAIT_MS } from "@custos/rpc/limits";
import type * as rpc from "@custos/rpc/request_schemas";
import type { Delivery } from "@custos/rpc/common";
import { agentOf, type Asks } from "./asks.ts";
import type { AuditLog } from "./audit_log.ts";
import type { Gate } from "./gate.ts";
import type { Grants } from "./grants.ts";
import { secretOf } from "./outgoing.ts";
import type { PolicyStore } from "./policy_store.ts";
import type { RequestEnds } from "./request_ends.ts";
import type { RequestStore, StoredRequest } from "./request_store.ts";
import type { Waits } from "./waits.ts";

/** What the calls need. */
export interface RequestParts {
  policies: PolicyStore;
  audit: AuditLog;
  requests: RequestStore;
  asks: Asks;
  ends: RequestEnds;
  waits: Waits;
  grants: Grants;
  gate: Gate;
}

/** `access.request`. */
export async function accessRequest(
  parts: RequestParts,
  params: rpc.AccessRequestParams,
  signal: AbortSignal,
): Promise<rpc.AccessRequestResult> {
  const agent = agentOf(params.agent);
  const wanted: Wanted = {
    uses: params.uses ?? null,
    seconds: params.seconds ?? null,
    methods: params.methods ?? null,
    path_prefix: params.path_prefix ?? null,
  };
  const secret = refusing(parts.audit, params.handle, agent.name, () => {
    const found = secretOf(parts.policies, params.handle);
    checkWanted(found.policy, wanted);
    return found;
  });
  parts.ends.expireOverdue();
  const { request } = await parts.asks.ask({
    type: "access",
    agent,
    reason: reasonOf(params.reason),
    handle: params.handle,
    secret_id: secret.secret_id,
    policy_hash: secret.policy_hash,
    header_sha256: secret.header_sha256,
    wanted,
  });
  const now = await parts.waits.until(request.id, params.wait_ms ?? DEFAULT_WAIT_MS, signal);
  const grant = parts.grants.viewOfRequest(now.id);
  return { ...common(now), ...(grant === undefined ? {} : { grant }) };
}

/** `drop.request`. */
export async function dropRequest(
  parts: RequestParts,
  params: rpc.DropRequestParams,
  signal: AbortSignal,
): Promise<rpc.DropRequestResult> {
  const agent = agentOf(params.agent);
  refusing(parts.audit, handleOf(params.name), agent.name, () => {
    if (parts.policies.byName(params.name) === undefined) return;
    throw new CustosError(
      "bad_request",
      `There is a secret ${handleOf(params.name)} already. Use it, or ask under another name.`,
    );
  });
  parts.ends.expireOverdue();
  const { request } = await parts.asks.ask({
    type: "drop",
    agent,
    reason: reasonOf(params.reason),
    name: params.name,
    suggest: params.suggest ?? {},
  });
  const now = await parts.waits.until(request.id, params.wait_ms ?? DEFAULT_WAIT_MS, signal);
  return { ...common(now), ...handle(parts, now) };
}

/** `access.status`, for a request of any type. */
export async function accessStatus(
  parts: RequestParts,
  params: rpc.AccessStatusParams,
  signal: AbortSignal,
): Promise<rpc.AccessStatusResult> {
  parts.ends.expireOverdue();
  found(parts.requests, params.request_id);
  const now = await parts.waits.until(params.request_id, params.wait_ms ?? 0, signal);
  const grant = parts.grants.viewOfRequest(now.id);
  const reason = now.reason ?? (parts.gate.outcomeUnknown(now.id) ? "outcome_unknown" : null);
  return {
    ...common(now),
    type: now.type,
    ...(reason === null ? {} : { reason }),
    ...handle(parts, now),
    ...(grant === undefined ? {} : { grant }),
  };
}

/** `access.withdraw`: ends a pending request, or only detaches while another caller waits for it. */
export function accessWithdraw(
  parts: RequestParts,
  params: rpc.AccessWithdrawParams,
): rpc.AccessWithdrawResult {
  parts.ends.expireOverdue();
  const request = found(parts.requests, params.request_id);
  const detached = request.status === "pending" && parts.waits.count(request.id) > 0;
  if (!detached) parts.ends.end(request, "withdrawn", "by_caller");
  const now = found(parts.requests, request.id);
  return { request_id: now.id, fingerprint: now.fingerprint, status: now.status, detached };
}

/** `policy.confirm`: the first word of a change that allows more, typed where no web page can type. */
export function policyConfirm(parts: RequestParts, params: rpc.PolicyConfirmParams): rpc.PolicyConfirmResult {
  parts.ends.expireOverdue();
  const request = found(parts.requests, params.request_id);
  if (request.type !== "policy" || request.status !== "pending") {
    throw new CustosError("bad_request", "This request is not a change that waits for its word.");
  }
  if (params.word.trim().toLowerCase() !== request.fingerprint.split(" ")[0]) {
    throw new CustosError(
      "bad_request",
      "This is not the first word of that change. Look at the card on the phone.",
    );
  }
  parts.requests.confirm(request.id);
  return { request_id: request.id, fingerprint: request.fingerprint, status: request.status };
}

/** `requests.list`. */
export function requestsList(parts: RequestParts, params: rpc.RequestsListParams): rpc.RequestsListResult {
  parts.ends.expireOverdue();
  const requests = parts.requests.list(params.status ?? null).map((request): rpc.RequestView => {
    const { doc } = request;
    return {
      request_id: request.id,
      fingerprint: request.fingerprint,
      type: request.type,
      ...("handle" in doc ? { handle: doc.handle } : "name" in doc ? { name: doc.name } : {}),
      agent: doc.agent,
      reason: doc.reason,
      ...(doc.type === "http" ? { method: doc.http.method, url: doc.http.url } : {}),
      status: request.status,
      created_ms: request.created_ms,
      expires_ms: request.expires_ms,
      ...(request.decided_by === null ? {} : { decided_by: request.decided_by }),
      delivery: delivery(request),
    };
  });
  return { requests };
}

/** The request with this id. Throws `unknown_request`. */
export function found(requests: RequestStore, id: string): StoredRequest {
  const request = requests.byId(id);
  if (request !== undefined) return request;
  throw new CustosError("unknown_request", `There is no request ${id}. Ask with custos requests.`);
}

function common(request: StoredRequest): rpc.RequestResult {
  return {
    request_id: request.id,
    fingerprint: request.fingerprint,
    status: request.status,
    expires_ms: request.expires_ms,
    delivery: delivery(request),
  };
}

function delivery(request: StoredRequest): Delivery {
  return request.card_sent ? "sent" : "not_delivered";
}

/** The handle of a delivered drop, with the name that the human chose. An access request never has one (ADR 0005). */
function handle(parts: RequestParts, request: StoredRequest): { handle?: string } {
  if (request.type !== "drop" || request.status !== "delivered") return {};
  const name = parts.policies.nameByRequest(request.hash);
  return name === null ? {} : { handle: handleOf(name) };
}

function reasonOf(reason: string): string {
  return reason.slice(0, REQUEST_LIMITS.reason).toWellFormed();
}

function checkWanted(policy: Policy, wanted: Wanted): void {
  const methods = wanted.methods ?? [];
  const allowed = new Set(policy.rules.flatMap((rule) => rule.methods));
  const method = methods.find((one) => !allowed.has(one));
  if (method !== undefined) {
    throw new CustosError(
      "method_not_allowed",
      `The policy of this secret never allows ${method}. It allows ${[...allowed].join(", ")}.`,
    );
  }
  const prefix = wanted.path_prefix;
  if (prefix !== null && !policy.rules.some((rule) => withinPrefix(prefix, rule.path_prefix))) {
    const paths = policy.rules.map((rule) => rule.path_prefix).join(", ");
    throw new CustosError(
      "path_not_allowed",
      `The policy of this secret does not allow that path. It allows ${paths}.`,
    );
  }
}

/** Runs a check; what it refuses is recorded, and the person is not asked. */
function refusing<T>(audit: AuditLog, handle: string, agent: string | null, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof CustosError) {
      audit.write({ event: "request_refused", why: error.kind, handle, agent });
    }
    throw error;
  }
}
