/** One method's schemas, loaded when it is called: a cold `custos status` reads one schema file and not six. */

import { NO_PARAMS } from "./common.ts";
import type { Method, MethodName } from "./method_types.ts";

const LOADERS: { readonly [M in MethodName]: () => Promise<Method<M>> } = {
  "access.request": async () => {
    const s = await import("./request_schemas.ts");
    return { params: s.ACCESS_REQUEST_PARAMS, result: s.ACCESS_REQUEST_RESULT };
  },
  "access.status": async () => {
    const s = await import("./request_schemas.ts");
    return { params: s.ACCESS_STATUS_PARAMS, result: s.ACCESS_STATUS_RESULT };
  },
  "access.withdraw": async () => {
    const s = await import("./request_schemas.ts");
    return { params: s.ACCESS_WITHDRAW_PARAMS, result: s.ACCESS_WITHDRAW_RESULT };
  },
  "drop.request": async () => {
    const s = await import("./request_schemas.ts");
    return { params: s.DROP_REQUEST_PARAMS, result: s.DROP_REQUEST_RESULT };
  },
  "http.request": async () => {
    const s = await import("./http_schemas.ts");
    return { params: s.HTTP_PARAMS, result: s.HTTP_RESULT };
  },
  "secret.propose": async () => {
    const s = await import("./request_schemas.ts");
    return { params: s.SECRET_PROPOSE_PARAMS, result: s.SECRET_PROPOSE_RESULT };
  },
  "policy.confirm": async () => {
    const s = await import("./request_schemas.ts");
    return { params: s.POLICY_CONFIRM_PARAMS, result: s.POLICY_CONFIRM_RESULT };
  },
  "requests.list": async () => {
    const s = await import("./request_schemas.ts");
    return { params: s.REQUESTS_LIST_PARAMS, result: s.REQUESTS_LIST_RESULT };
  },
  "receipt.get": async () => {
    const s = await import("./request_schemas.ts");
    return { params: s.RECEIPT_GET_PARAMS, result: s.RECEIPT_GET_RESULT };
  },
  "handles.list": async () => {
    const s = await import("./inventory_schemas.ts");
    return { params: NO_PARAMS, result: s.HANDLES_LIST_RESULT };
  },
  "grants.list": async () => {
    const s = await import("./inventory_schemas.ts");
    return { params: NO_PARAMS, result: s.GRANTS_LIST_RESULT };
  },
  "grants.revoke": async () => {
    const s = await import("./inventory_schemas.ts");
    return { params: s.GRANTS_REVOKE_PARAMS, result: s.GRANTS_REVOKE_RESULT };
  },
  "devices.list": async () => {
    const s = await import("./inventory_schemas.ts");
    return { params: NO_PARAMS, result: s.DEVICES_LIST_RESULT };
  },
  "recipients.list": async () => {
    const s = await import("./inventory_schemas.ts");
    return { params: NO_PARAMS, result: s.RECIPIENTS_LIST_RESULT };
  },
  "pair.begin": async () => {
    const s = await import("./pair_schemas.ts");
    return { params: NO_PARAMS, result: s.PAIR_BEGIN_RESULT };
  },
  "pair.status": async () => {
    const s = await import("./pair_schemas.ts");
    return { params: s.PAIR_STATUS_PARAMS, result: s.PAIR_STATUS_RESULT };
  },
  "pair.confirm": async () => {
    const s = await import("./pair_schemas.ts");
    return { params: s.PAIR_CONFIRM_PARAMS, result: s.PAIR_CONFIRM_RESULT };
  },
  "log.read": async () => {
    const s = await import("./log_schemas.ts");
    return { params: s.LOG_READ_PARAMS, result: s.LOG_READ_RESULT };
  },
  "log.checkpoint": async () => {
    const s = await import("./log_schemas.ts");
    return { params: NO_PARAMS, result: s.LOG_CHECKPOINT_RESULT };
  },
  "daemon.status": async () => {
    const s = await import("./daemon_schemas.ts");
    return { params: NO_PARAMS, result: s.DAEMON_STATUS_RESULT };
  },
  "daemon.lock": async () => {
    const s = await import("./daemon_schemas.ts");
    return { params: NO_PARAMS, result: s.DAEMON_LOCK_RESULT };
  },
};

/** The schemas of a method. */
export function loadMethod<M extends MethodName>(method: M): Promise<Method<M>> {
  return LOADERS[method]();
}
