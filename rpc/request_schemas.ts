/** What can be asked of a human and what comes back: `access.*`, `drop.request`, `secret.propose`, `policy.confirm`,
 * `requests.list`, `receipt.get` (DESIGN §5, §9). Every result about a request requires its words. */

import {
  MAX_GRANT_SECONDS,
  type Placement,
  type Policy,
  type PolicyRule,
  policySchema,
} from "@custos/core/policy";
import {
  exactly,
  flag,
  list,
  oneOf,
  optional,
  pattern,
  type Schema,
  shape,
  text,
  timeMs,
  whole,
} from "@custos/core/schema";
import * as z from "zod/mini";
import * as c from "./common.ts";
import { GRANT_VIEW, type GrantView } from "./inventory_schemas.ts";

/** Params of `access.request`. */
export interface AccessRequestParams {
  handle: string;
  reason: string;
  methods?: string[];
  path_prefix?: string;
  seconds?: number;
  uses?: number;
  wait_ms?: number;
  agent?: c.AgentParam;
}
/** Schema of {@link AccessRequestParams}. */
export const ACCESS_REQUEST_PARAMS: Schema<AccessRequestParams> = shape<AccessRequestParams>({
  handle: c.HANDLE,
  reason: c.REASON,
  methods: optional(c.METHOD_LIST),
  path_prefix: optional(c.PATH_PREFIX),
  seconds: optional(whole(1, MAX_GRANT_SECONDS)),
  uses: optional(whole(1, 1_000_000)),
  wait_ms: optional(c.WAIT_MS),
  agent: optional(c.AGENT_PARAM),
});

/** What every call that asks the human returns. */
export interface RequestResult {
  request_id: string;
  /** The three words that the phone shows for the same request. */
  fingerprint: string;
  status: c.RequestStatus;
  expires_ms: number;
  delivery: c.Delivery;
}
const requestResult = {
  request_id: c.ID,
  fingerprint: c.FINGERPRINT,
  status: c.REQUEST_STATUS,
  expires_ms: timeMs,
  delivery: c.DELIVERY,
};

/** Result of `access.request`; `grant` once it is granted. */
export interface AccessRequestResult extends RequestResult {
  grant?: GrantView;
}
/** Schema of {@link AccessRequestResult}. */
export const ACCESS_REQUEST_RESULT: Schema<AccessRequestResult> = shape<AccessRequestResult>({
  ...requestResult,
  grant: optional(GRANT_VIEW),
});

/** Params of `access.status`, for a request of any type. */
export interface AccessStatusParams {
  request_id: string;
  wait_ms?: number;
}
/** Schema of {@link AccessStatusParams}. */
export const ACCESS_STATUS_PARAMS: Schema<AccessStatusParams> = shape<AccessStatusParams>({
  request_id: c.ID,
  wait_ms: optional(c.WAIT_MS),
});

/** Result of `access.status`. Only a delivered drop has a handle, with the name the human chose. */
export interface AccessStatusResult extends RequestResult {
  type: c.RequestType;
  /** Why it ended this way, as a code (`daemon_restarted`). */
  reason?: string;
  handle?: string;
  grant?: GrantView;
}
/** Schema of {@link AccessStatusResult}: a handle on anything but a drop does not decode. */
export const ACCESS_STATUS_RESULT: Schema<AccessStatusResult> = shape<AccessStatusResult>({
  ...requestResult,
  type: c.REQUEST_TYPE,
  reason: optional(c.LABEL),
  handle: optional(c.HANDLE),
  grant: optional(GRANT_VIEW),
}).check(z.refine((result) => result.handle === undefined || result.type === "drop"));

/** Params of `access.withdraw`. */
export interface AccessWithdrawParams {
  request_id: string;
}
/** Schema of {@link AccessWithdrawParams}. */
export const ACCESS_WITHDRAW_PARAMS: Schema<AccessWithdrawParams> = shape<AccessWithdrawParams>({
  request_id: c.ID,
});

/** Result of `access.withdraw`. */
export interface AccessWithdrawResult {
  request_id: string;
  fingerprint: string;
  status: c.RequestStatus;
  /** Another caller is joined to the request, so it stays pending and only this caller has left. */
  detached: boolean;
}
/** Schema of {@link AccessWithdrawResult}. */
export const ACCESS_WITHDRAW_RESULT: Schema<AccessWithdrawResult> = shape<AccessWithdrawResult>({
  request_id: c.ID,
  fingerprint: c.FINGERPRINT,
  status: c.REQUEST_STATUS,
  detached: flag,
});

/** What the agent proposes for a secret that is not there yet. The phone shows it as the agent's words. */
export interface DropSuggestions {
  origins?: string[];
  placement?: Placement;
  rules?: PolicyRule[];
  max_seconds?: number;
}

const placement: Schema<Placement> = oneOf<Placement>(
  shape<{ kind: "bearer" }>({ kind: exactly("bearer") }),
  shape<{ kind: "header"; name: string; template: string }>({
    kind: exactly("header"),
    name: text(128, 1),
    template: text(300, 1),
  }),
  shape<{ kind: "basic"; username: string }>({ kind: exactly("basic"), username: text(128, 1) }),
  shape<{ kind: "query"; name: string }>({ kind: exactly("query"), name: text(64, 1) }),
);

/** Params of `drop.request`. */
export interface DropRequestParams {
  name: string;
  reason: string;
  suggest?: DropSuggestions;
  wait_ms?: number;
  agent?: c.AgentParam;
}
/** Schema of {@link DropRequestParams}. */
export const DROP_REQUEST_PARAMS: Schema<DropRequestParams> = shape<DropRequestParams>({
  name: c.NAME,
  reason: c.REASON,
  suggest: optional(shape<DropSuggestions>({
    origins: optional(list(text(300, 1), 20)),
    placement: optional(placement),
    rules: optional(list(c.RULE, 50)),
    max_seconds: optional(whole(1, MAX_GRANT_SECONDS)),
  })),
  wait_ms: optional(c.WAIT_MS),
  agent: optional(c.AGENT_PARAM),
});

/** Result of `drop.request`; `handle` once it is delivered. */
export interface DropRequestResult extends RequestResult {
  handle?: string;
}
/** Schema of {@link DropRequestResult}. */
export const DROP_REQUEST_RESULT: Schema<DropRequestResult> = shape<DropRequestResult>({
  ...requestResult,
  handle: optional(c.HANDLE),
});

/** Params of `secret.propose`: an age file that the caller sealed to the devices, and the policy it proposes. */
export interface SecretProposeParams {
  /** The sealed value, base64url without padding. */
  sealed: string;
  policy: Policy;
  reason: string;
  wait_ms?: number;
  agent?: c.AgentParam;
}
/** Schema of {@link SecretProposeParams}. */
export const SECRET_PROPOSE_PARAMS: Schema<SecretProposeParams> = shape<SecretProposeParams>({
  sealed: pattern(/^[A-Za-z0-9_-]{1,262144}$/),
  policy: policySchema,
  reason: c.REASON,
  wait_ms: optional(c.WAIT_MS),
  agent: optional(c.AGENT_PARAM),
});

/** Result of `secret.propose`. */
export type SecretProposeResult = RequestResult;
/** Schema of {@link SecretProposeResult}. */
export const SECRET_PROPOSE_RESULT: Schema<SecretProposeResult> = shape<SecretProposeResult>(requestResult);

/** Params of `policy.confirm`: the first word of the card, typed where the model does not write (DESIGN §6.4). */
export interface PolicyConfirmParams {
  request_id: string;
  word: string;
}
/** Schema of {@link PolicyConfirmParams}. */
export const POLICY_CONFIRM_PARAMS: Schema<PolicyConfirmParams> = shape<PolicyConfirmParams>({
  request_id: c.ID,
  word: text(32, 1),
});

/** Result of `policy.confirm`. */
export interface PolicyConfirmResult {
  request_id: string;
  fingerprint: string;
  status: c.RequestStatus;
}
/** Schema of {@link PolicyConfirmResult}. */
export const POLICY_CONFIRM_RESULT: Schema<PolicyConfirmResult> = shape<PolicyConfirmResult>({
  request_id: c.ID,
  fingerprint: c.FINGERPRINT,
  status: c.REQUEST_STATUS,
});

/** Params of `requests.list`. */
export interface RequestsListParams {
  status?: c.RequestStatus;
}
/** Schema of {@link RequestsListParams}. */
export const REQUESTS_LIST_PARAMS: Schema<RequestsListParams> = shape<RequestsListParams>({
  status: optional(c.REQUEST_STATUS),
});

/** One request, as people see it in a list. */
export interface RequestView {
  request_id: string;
  fingerprint: string;
  type: c.RequestType;
  handle?: string;
  name?: string;
  agent: c.AgentView;
  reason: string;
  method?: string;
  url?: string;
  status: c.RequestStatus;
  created_ms: number;
  expires_ms: number;
  /** Name of the device that answered. */
  decided_by?: string;
  delivery: c.Delivery;
}
const requestView: Schema<RequestView> = shape<RequestView>({
  request_id: c.ID,
  fingerprint: c.FINGERPRINT,
  type: c.REQUEST_TYPE,
  handle: optional(c.HANDLE),
  name: optional(c.LABEL),
  agent: c.AGENT_VIEW,
  reason: text(1_000),
  method: optional(c.METHOD),
  url: optional(text(16_384)),
  status: c.REQUEST_STATUS,
  created_ms: timeMs,
  expires_ms: timeMs,
  decided_by: optional(c.LABEL),
  delivery: c.DELIVERY,
});

/** Result of `requests.list`, the newest first. */
export interface RequestsListResult {
  requests: RequestView[];
}
/** Schema of {@link RequestsListResult}. */
export const REQUESTS_LIST_RESULT: Schema<RequestsListResult> = shape<RequestsListResult>({
  requests: list(requestView, 10_000),
});

/** Params of `receipt.get`. */
export interface ReceiptGetParams {
  request_id: string;
}
/** Schema of {@link ReceiptGetParams}. */
export const RECEIPT_GET_PARAMS: Schema<ReceiptGetParams> = shape<ReceiptGetParams>({ request_id: c.ID });

/** Result of `receipt.get`: the document that a verifier reads with its own schema. */
export interface ReceiptGetResult {
  receipt: Record<string, unknown>;
}
/** Schema of {@link ReceiptGetResult}. */
export const RECEIPT_GET_RESULT: Schema<ReceiptGetResult> = shape<ReceiptGetResult>({
  receipt: z.record(z.string(), z.unknown()),
});
