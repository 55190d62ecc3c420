/**
 * The methods of the daemon by name (DESIGN §9): their types, and whether each may have acted when its answer is lost.
 * No schema is loaded here, so that a command that calls one method does not pay for all.
 */

import type { Schema } from "@custos/core/schema";
import type { NoParams } from "./common.ts";
import type * as daemon from "./daemon_schemas.ts";
import type * as http from "./http_schemas.ts";
import type * as inventory from "./inventory_schemas.ts";
import type * as log from "./log_schemas.ts";
import type * as pair from "./pair_schemas.ts";
import type * as request from "./request_schemas.ts";

/** Params and result of each method. */
export interface Methods {
  "access.request": [request.AccessRequestParams, request.AccessRequestResult];
  "access.status": [request.AccessStatusParams, request.AccessStatusResult];
  "access.withdraw": [request.AccessWithdrawParams, request.AccessWithdrawResult];
  "drop.request": [request.DropRequestParams, request.DropRequestResult];
  "http.request": [http.HttpParams, http.HttpResult];
  "secret.propose": [request.SecretProposeParams, request.SecretProposeResult];
  "policy.confirm": [request.PolicyConfirmParams, request.PolicyConfirmResult];
  "requests.list": [request.RequestsListParams, request.RequestsListResult];
  "receipt.get": [request.ReceiptGetParams, request.ReceiptGetResult];
  "handles.list": [NoParams, inventory.HandlesListResult];
  "grants.list": [NoParams, inventory.GrantsListResult];
  "grants.revoke": [inventory.GrantsRevokeParams, inventory.GrantsRevokeResult];
  "devices.list": [NoParams, inventory.DevicesListResult];
  "recipients.list": [NoParams, inventory.RecipientsListResult];
  "pair.begin": [NoParams, pair.PairBeginResult];
  "pair.status": [pair.PairStatusParams, pair.PairStatusResult];
  "pair.confirm": [pair.PairConfirmParams, pair.PairConfirmResult];
  "log.read": [log.LogReadParams, log.LogReadResult];
  "log.checkpoint": [NoParams, log.LogCheckpointResult];
  "daemon.status": [NoParams, daemon.DaemonStatusResult];
  "daemon.lock": [NoParams, daemon.DaemonLockResult];
}

/** The name of a method. */
export type MethodName = keyof Methods;
/** Params of a method. */
export type Params<M extends MethodName> = Methods[M][0];
/** Result of a method. */
export type Result<M extends MethodName> = Methods[M][1];

/** The schemas of a method. */
export interface Method<M extends MethodName> {
  params: Schema<Params<M>>;
  result: Schema<Result<M>>;
}

/**
 * Whether a call may have changed something. If the answer of such a call is lost or does not decode, the outcome is
 * unknown; of a read it is an internal fault. Neither is ever sent again by itself (DESIGN §9).
 */
export const ACTS: Readonly<Record<MethodName, boolean>> = {
  "access.request": true,
  "access.status": false,
  "access.withdraw": true,
  "drop.request": true,
  "http.request": true,
  "secret.propose": true,
  "policy.confirm": true,
  "requests.list": false,
  "receipt.get": false,
  "handles.list": false,
  "grants.list": false,
  "grants.revoke": true,
  "devices.list": false,
  "recipients.list": false,
  "pair.begin": true,
  "pair.status": false,
  "pair.confirm": true,
  "log.read": false,
  "log.checkpoint": false,
  "daemon.status": false,
  "daemon.lock": true,
};

/** Whether a word names a method. `Object.hasOwn`, so that `constructor` does not (B113). */
export function isMethodName(word: unknown): word is MethodName {
  return typeof word === "string" && Object.hasOwn(ACTS, word);
}
