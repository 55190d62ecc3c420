/**
 * What a secret may do. The policy lives inside the secret's ciphertext, so no edit on disk can send a secret elsewhere;
 * a clear copy, signed in the policy log, serves the check before a human is asked (DESIGN §6.1).
 */

import { toBase64url } from "./bytes.ts";
import { canonicalBytes } from "./canonical.ts";
import { isPlaceableHeader, TOKEN_PATTERN } from "./header_rules.ts";
import { labelledHash } from "./labels.ts";
import {
  decode,
  exactly,
  flag,
  hash,
  id,
  list,
  nullable,
  oneOf,
  pattern,
  type Schema,
  shape,
  text,
  timeMs,
  whole,
} from "./schema.ts";
import { displayLine } from "./display.ts";
import { CustosError } from "./errors.ts";

/** Methods that a rule may name. TRACE and CONNECT are not among them: no API call needs them (B49). */
export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** One rule: these methods, at this path or below it. A prefix ends at a segment border (B20). */
export interface PolicyRule {
  methods: string[];
  path_prefix: string;
}

/** Where the secret goes in the request. `template` holds `{secret}` exactly once. */
export type Placement =
  | { kind: "bearer" }
  | { kind: "header"; name: string; template: string }
  | { kind: "basic"; username: string }
  | { kind: "query"; name: string };

/** Upper bounds. */
export interface PolicyLimits {
  /** Longest grant, in seconds. */
  max_seconds: number;
  /** Largest request body, in bytes; at most 64 MiB. */
  max_body_bytes: number;
  /** Whether loopback and private addresses may be reached (only in the `lan` profile). */
  private_network: boolean;
}

/** A policy. The fields are numbered 1 to 12 in DESIGN §6.1, in this order. */
export interface Policy {
  v: 1;
  secret_id: string;
  name: string;
  version: number;
  /** Hash of the previous version; `null` in version 1. */
  prev: string | null;
  origins: string[];
  rules: PolicyRule[];
  placement: Placement;
  /** Hash of the request that led to this version; `null` when the human began it on the phone. */
  request_hash: string | null;
  limits: PolicyLimits;
  epoch: string;
  created_ms: number;
}

/** Names of secrets: one spelling each, safe in a path, a shell and a sentence (B113). */
export const NAME_PATTERN: RegExp = /^[a-z][a-z0-9_-]{0,62}$/;

/** A path prefix: printable ASCII that `URL` keeps as it is, without query, fragment, dot segments or encoded slashes. */
const PREFIX_PATTERN = /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@%/]{0,1023}$/;

/** Longest grant that any policy can allow: 30 days, in seconds. */
export const MAX_GRANT_SECONDS = 2_592_000;
/** Largest request body that any policy can allow, in bytes. */
export const MAX_BODY_BYTES = 67_108_864;

/** The shape of a placement. */
export const placementSchema: Schema<Placement> = oneOf<Placement>(
  shape<{ kind: "bearer" }>({ kind: exactly("bearer") }),
  shape<{ kind: "header"; name: string; template: string }>({
    kind: exactly("header"),
    name: pattern(TOKEN_PATTERN),
    template: pattern(/^(?!.*\{secret\}.*\{secret\})[\x20-\x7e]{0,128}\{secret\}[\x20-\x7e]{0,128}$/),
  }),
  // RFC 7617: a colon in the user name would move the border between name and password (B52)
  shape<{ kind: "basic"; username: string }>({
    kind: exactly("basic"),
    username: pattern(/^[\x21-\x39\x3b-\x7e]{1,128}$/),
  }),
  shape<{ kind: "query"; name: string }>({
    kind: exactly("query"),
    name: pattern(/^[A-Za-z0-9._~-]{1,64}$/),
  }),
);

const ruleSchema: Schema<PolicyRule> = shape<PolicyRule>({
  methods: list(pattern(/^[A-Z]{1,16}$/), METHODS.length, 1),
  path_prefix: pattern(PREFIX_PATTERN),
});

/** The shape of a policy; {@link checkPolicy} adds what a shape cannot say. */
export const policySchema: Schema<Policy> = shape<Policy>({
  v: exactly(1),
  secret_id: id,
  name: pattern(NAME_PATTERN),
  version: whole(1, 1_000_000),
  prev: nullable(hash),
  origins: list(text(300, 1), 20, 1),
  rules: list(ruleSchema, 50, 1),
  placement: placementSchema,
  request_hash: nullable(hash),
  limits: shape<PolicyLimits>({
    max_seconds: whole(1, MAX_GRANT_SECONDS),
    max_body_bytes: whole(0, MAX_BODY_BYTES),
    private_network: flag,
  }),
  epoch: id,
  created_ms: timeMs,
});

/** Reads an untrusted policy. Throws `bad_request` that names the member which does not fit. */
export function readPolicy(value: unknown): Policy {
  const policy = decode(policySchema, value, "policy");
  checkPolicy(policy);
  return policy;
}

/** The rules that a shape cannot say. Throws `bad_request`; a rule is never dropped in silence (B07). */
export function checkPolicy(policy: Policy): void {
  const fail = (why: string): never => {
    throw new CustosError("bad_request", `The policy was refused: ${why}`);
  };
  for (const origin of policy.origins) checkOrigin(origin, policy.limits.private_network);
  if (new Set(policy.origins).size !== policy.origins.length) fail("an origin is named twice.");
  for (const rule of policy.rules) {
    const unknown = rule.methods.find((method) => !(METHODS as readonly string[]).includes(method));
    if (unknown !== undefined) fail(`the method ${unknown} is not one of ${METHODS.join(", ")}.`);
    const url = new URL(`https://x.invalid${rule.path_prefix}`);
    if (url.pathname !== rule.path_prefix || /%2f|%5c|%2e/i.test(rule.path_prefix)) {
      fail("a path prefix holds dot segments or an encoded slash, which servers read in different ways.");
    }
  }
  if (policy.placement.kind === "header" && !isPlaceableHeader(policy.placement.name)) {
    fail(`the header ${policy.placement.name} frames the message, so a secret cannot be sent in it.`);
  }
  if ((policy.version === 1) !== (policy.prev === null)) {
    fail("version 1, and only it, has no previous version.");
  }
}

/**
 * Refuses an origin unless it is in its one canonical spelling: `https://host[:port]`, or `http://` only with
 * `private_network`. Wildcards, paths, user info, trailing dots and default ports are not canonical (B05, B07, B09, B22).
 */
export function checkOrigin(origin: string, privateNetwork: boolean): void {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  const secure = url?.protocol === "https:" || (privateNetwork && url?.protocol === "http:");
  // an empty label never resolves, and `https://.example.test` reads like a wildcard (B07)
  const labels = url !== null && url.hostname.split(".").every((label) => label !== "");
  const canonical = url !== null && url.origin === origin && /^[a-z0-9.:[\]-]+$/.test(url.host);
  if (url === null || !secure || !canonical || !labels) {
    const shown = displayLine(origin.replace(/\/\/[^/]*@/, "//…@"), 80); // login data is never repeated (B05)
    throw new CustosError(
      "bad_request",
      `The origin ${shown} must be written exactly as https://host or https://host:port, without path, wildcard or ` +
        "trailing dot" +
        (url?.protocol === "http:" && !privateNetwork ? "; http needs the policy's private_network." : "."),
    );
  }
}

/** `H("custos/policy/v1", JCS(policy))` as base64url. */
export async function policyHash(policy: Policy): Promise<string> {
  return toBase64url(await labelledHash("policy", canonicalBytes(policy)));
}
