/** What is there: handles, grants, devices, recipients. Never a value (DESIGN §9, §10). */

import type { PolicyLimits, PolicyRule } from "@custos/core/policy";
import { MAX_BODY_BYTES, MAX_GRANT_SECONDS } from "@custos/core/policy";
import {
  exactly,
  flag,
  list,
  nullable,
  optional,
  pattern,
  type Schema,
  shape,
  text,
  timeMs,
  whole,
  word,
} from "@custos/core/schema";
import * as z from "zod/mini";
import { HANDLE, ID, LABEL, METHOD_LIST, NAME, PATH, PATH_PREFIX, RULE } from "./common.ts";

/** A grant: what may be done with a handle, how often, until when. */
export interface GrantView {
  grant_id: string;
  handle: string;
  origins: string[];
  methods: string[];
  /** Exactly this path; a grant has this or `path_prefix`. */
  path?: string;
  path_prefix?: string;
  uses_left: number;
  max_uses: number;
  expires_ms: number;
  /** It can no longer be used: spent, over, revoked, or ended by a restart. */
  ended: boolean;
}
/** Schema of {@link GrantView}. */
export const GRANT_VIEW: Schema<GrantView> = shape<GrantView>({
  grant_id: ID,
  handle: HANDLE,
  origins: list(text(300, 1), 20),
  methods: METHOD_LIST,
  path: optional(PATH),
  path_prefix: optional(PATH_PREFIX),
  uses_left: whole(0, 1_000_000),
  max_uses: whole(1, 1_000_000),
  expires_ms: timeMs,
  ended: flag,
});

/** Where a secret goes, without the template or user name around it. */
export interface PlacementView {
  kind: "bearer" | "header" | "basic" | "query";
  /** Name of the header or query member. */
  name?: string;
}

/** A secret, as an agent may know it. */
export interface HandleView {
  handle: string;
  name: string;
  origins: string[];
  rules: PolicyRule[];
  placement: PlacementView;
  limits: PolicyLimits;
  /** Version of its policy. */
  version: number;
  live_grants: GrantView[];
}
const handleView: Schema<HandleView> = shape<HandleView>({
  handle: HANDLE,
  name: NAME,
  origins: list(text(300, 1), 20),
  rules: list(RULE, 50),
  placement: shape<PlacementView>({
    kind: word("bearer", "header", "basic", "query"),
    name: optional(text(128, 1)),
  }),
  limits: shape<PolicyLimits>({
    max_seconds: whole(1, MAX_GRANT_SECONDS),
    max_body_bytes: whole(0, MAX_BODY_BYTES),
    private_network: flag,
  }),
  version: whole(1, 1_000_000),
  live_grants: list(GRANT_VIEW, 10_000),
});

/** Result of `handles.list`. */
export interface HandlesListResult {
  handles: HandleView[];
}
/** Schema of {@link HandlesListResult}. */
export const HANDLES_LIST_RESULT: Schema<HandlesListResult> = shape<HandlesListResult>({
  handles: list(handleView, 10_000),
});

/** Result of `grants.list`: live grants. */
export interface GrantsListResult {
  grants: GrantView[];
}
/** Schema of {@link GrantsListResult}. */
export const GRANTS_LIST_RESULT: Schema<GrantsListResult> = shape<GrantsListResult>({
  grants: list(GRANT_VIEW, 10_000),
});

/** Params of `grants.revoke`: exactly one of the three. */
export interface GrantsRevokeParams {
  grant_id?: string;
  handle?: string;
  all?: true;
}
/** Schema of {@link GrantsRevokeParams}. An empty object revokes nothing and is an error, so that `all` is always meant. */
export const GRANTS_REVOKE_PARAMS: Schema<GrantsRevokeParams> = shape<GrantsRevokeParams>({
  grant_id: optional(ID),
  handle: optional(HANDLE),
  all: optional(exactly(true)),
}).check(
  z.refine((params) => Object.values(params).filter((value) => value !== undefined).length === 1),
);

/** Result of `grants.revoke`. */
export interface GrantsRevokeResult {
  revoked: number;
}
/** Schema of {@link GrantsRevokeResult}. */
export const GRANTS_REVOKE_RESULT: Schema<GrantsRevokeResult> = shape<GrantsRevokeResult>({
  revoked: whole(0, 1_000_000),
});

/** An enrolled phone or browser. */
export interface DeviceView {
  device: string;
  /** What the device called itself at pairing. */
  name: string;
  platform: string;
  added_ms: number;
  last_seen_ms: number | null;
  /** Its channel is locked: two daemons used one name (DESIGN §7). */
  locked: boolean;
}
/** Result of `devices.list`. */
export interface DevicesListResult {
  devices: DeviceView[];
}
/** Schema of {@link DevicesListResult}. */
export const DEVICES_LIST_RESULT: Schema<DevicesListResult> = shape<DevicesListResult>({
  devices: list(
    shape<DeviceView>({
      device: text(200, 1),
      name: LABEL,
      platform: LABEL,
      added_ms: timeMs,
      last_seen_ms: nullable(timeMs),
      locked: flag,
    }),
    1_000,
  ),
});

/** Somebody to whom a new secret is sealed. */
export interface RecipientView {
  /** Name of the device, or `null` for the recovery sheet. */
  device: string | null;
  /** Hybrid age recipient, `age1pq1…`. */
  recipient: string;
}
/** Result of `recipients.list`. */
export interface RecipientsListResult {
  epoch: string;
  recipients: RecipientView[];
}
/** Schema of {@link RecipientsListResult}. */
export const RECIPIENTS_LIST_RESULT: Schema<RecipientsListResult> = shape<RecipientsListResult>({
  epoch: ID,
  recipients: list(
    shape<RecipientView>({ device: nullable(LABEL), recipient: pattern(/^age1pq1[a-z0-9]{1,3000}$/) }),
    1_000,
  ),
});
