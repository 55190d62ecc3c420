/**
 * Every method with its schemas, for the daemon, which serves them all. A client loads one by one (`method_loader.ts`).
 * Both sides read the same schemas, so neither can know a method that the other does not.
 */

import { NO_PARAMS } from "./common.ts";
import * as daemon from "./daemon_schemas.ts";
import * as http from "./http_schemas.ts";
import * as inventory from "./inventory_schemas.ts";
import * as log from "./log_schemas.ts";
import type { Method, MethodName } from "./method_types.ts";
import * as pair from "./pair_schemas.ts";
import * as request from "./request_schemas.ts";

export {
  ACTS,
  isMethodName,
  type Method,
  type MethodName,
  type Methods,
  type Params,
  type Result,
} from "./method_types.ts";

const none = NO_PARAMS;

/** The table. */
export const METHODS: { readonly [M in MethodName]: Method<M> } = {
  "access.request": {
    params: request.ACCESS_REQUEST_PARAMS,
    result: request.ACCESS_REQUEST_RESULT,
  },
  "access.status": {
    params: request.ACCESS_STATUS_PARAMS,
    result: request.ACCESS_STATUS_RESULT,
  },
  "access.withdraw": {
    params: request.ACCESS_WITHDRAW_PARAMS,
    result: request.ACCESS_WITHDRAW_RESULT,
  },
  "drop.request": { params: request.DROP_REQUEST_PARAMS, result: request.DROP_REQUEST_RESULT },
  "http.request": { params: http.HTTP_PARAMS, result: http.HTTP_RESULT },
  "secret.propose": {
    params: request.SECRET_PROPOSE_PARAMS,
    result: request.SECRET_PROPOSE_RESULT,
  },
  "policy.confirm": {
    params: request.POLICY_CONFIRM_PARAMS,
    result: request.POLICY_CONFIRM_RESULT,
  },
  "requests.list": {
    params: request.REQUESTS_LIST_PARAMS,
    result: request.REQUESTS_LIST_RESULT,
  },
  "receipt.get": { params: request.RECEIPT_GET_PARAMS, result: request.RECEIPT_GET_RESULT },
  "handles.list": { params: none, result: inventory.HANDLES_LIST_RESULT },
  "grants.list": { params: none, result: inventory.GRANTS_LIST_RESULT },
  "grants.revoke": {
    params: inventory.GRANTS_REVOKE_PARAMS,
    result: inventory.GRANTS_REVOKE_RESULT,
  },
  "devices.list": { params: none, result: inventory.DEVICES_LIST_RESULT },
  "recipients.list": { params: none, result: inventory.RECIPIENTS_LIST_RESULT },
  "pair.begin": { params: none, result: pair.PAIR_BEGIN_RESULT },
  "pair.status": { params: pair.PAIR_STATUS_PARAMS, result: pair.PAIR_STATUS_RESULT },
  "pair.confirm": { params: pair.PAIR_CONFIRM_PARAMS, result: pair.PAIR_CONFIRM_RESULT },
  "log.read": { params: log.LOG_READ_PARAMS, result: log.LOG_READ_RESULT },
  "log.checkpoint": { params: none, result: log.LOG_CHECKPOINT_RESULT },
  "daemon.status": { params: none, result: daemon.DAEMON_STATUS_RESULT },
  "daemon.lock": { params: none, result: daemon.DAEMON_LOCK_RESULT },
};
