/** Schemas that several methods share. Every one is strict, bounded and annotated (DESIGN §9). */

import { isId } from "@custos/core/ids";
import { NAME_PATTERN, type PolicyRule } from "@custos/core/policy";
import {
  list,
  nullable,
  optional,
  pattern,
  type Schema,
  shape,
  text,
  whole,
  word,
} from "@custos/core/schema";
import * as z from "zod/mini";
import { MAX_WAIT_MS } from "./limits.ts";

/** No params. */
export type NoParams = Record<string, never>;
/** Schema of {@link NoParams}: any member is an error. */
export const NO_PARAMS: Schema<NoParams> = z.strictObject({}) as unknown as Schema<NoParams>;

/** Three lower-case words with single spaces. Four words of the EFF list hold a hyphen. */
export const FINGERPRINT: Schema<string> = pattern(
  /^[a-z]{1,12}(?:-[a-z]{1,12})?(?: [a-z]{1,12}(?:-[a-z]{1,12})?){2}$/,
);

/** The id of a request, grant, device or pairing (16 bytes, base32). */
export const ID: Schema<string> = z.string().check(z.refine(isId));

/** `custos:<name>`. */
export const HANDLE: Schema<string> = pattern(new RegExp(`^custos:${NAME_PATTERN.source.slice(1)}`));

/** The name of a secret; one rule everywhere (B113). */
export const NAME: Schema<string> = pattern(NAME_PATTERN);

/** A reason that a person can read: at least one visible character, at most 500 (as in request documents). */
export const REASON: Schema<string> = z.string().check(
  z.maxLength(500),
  z.refine((value) => value.isWellFormed() && /[^\p{Z}\p{C}]/u.test(value)),
);

/** How long to wait for the human: 0 returns at once. */
export const WAIT_MS: Schema<number> = whole(0, MAX_WAIT_MS);

/** An HTTP method that a policy may name. */
export const METHOD: Schema<string> = pattern(/^[A-Z]{1,16}$/);
/** A list of methods. */
export const METHOD_LIST: Schema<string[]> = list(METHOD, 16, 1);

/** A path prefix of a rule or grant. */
export const PATH_PREFIX: Schema<string> = pattern(/^\/[\x21-\x7e]{0,1023}$/);
/** The exact path of a grant. */
export const PATH: Schema<string> = pattern(/^\/[\x21-\x7e]{0,8191}$/);

/** A bounded piece of display text. */
export const LABEL: Schema<string> = text(200);

/** Who asks, in its own words: both parts are self-declared, and the card says "calls itself" (DESIGN §5.2). */
export interface AgentParam {
  name?: string | null;
  client?: { name: string; version: string } | null;
}

/** Schema of {@link AgentParam}. */
export const AGENT_PARAM: Schema<AgentParam> = shape<AgentParam>({
  name: optional(nullable(text(64, 1))),
  client: optional(
    nullable(shape<{ name: string; version: string }>({ name: text(64), version: text(64) })),
  ),
});

/** Who asked, as the daemon recorded it. */
export interface AgentView {
  name: string | null;
  client: { name: string; version: string } | null;
}

/** Schema of {@link AgentView}. */
export const AGENT_VIEW: Schema<AgentView> = shape<AgentView>({
  name: nullable(text(64)),
  client: nullable(shape<{ name: string; version: string }>({ name: text(64), version: text(64) })),
});

/** Types of requests (DESIGN §4). */
export type RequestType = "access" | "http" | "drop" | "propose" | "policy" | "device" | "recovery";
/** Schema of {@link RequestType}. */
export const REQUEST_TYPE: Schema<RequestType> = word<RequestType>(
  "access",
  "http",
  "drop",
  "propose",
  "policy",
  "device",
  "recovery",
);

/** What became of a request; `delivered` is a granted drop (DESIGN §5.2). */
export type RequestStatus = "pending" | "granted" | "denied" | "expired" | "withdrawn" | "delivered";
/** Schema of {@link RequestStatus}. */
export const REQUEST_STATUS: Schema<RequestStatus> = word<RequestStatus>(
  "pending",
  "granted",
  "denied",
  "expired",
  "withdrawn",
  "delivered",
);

/** Whether the relay has taken the card. */
export type Delivery = "sent" | "not_delivered";
/** Schema of {@link Delivery}. */
export const DELIVERY: Schema<Delivery> = word<Delivery>("sent", "not_delivered");

/** Schema of a policy rule in results; the daemon has checked it against the policy's own schema. */
export const RULE: Schema<PolicyRule> = shape<PolicyRule>({ methods: METHOD_LIST, path_prefix: PATH_PREFIX });
