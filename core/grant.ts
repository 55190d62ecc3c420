/**
 * A grant: a signed, bounded permission. It is the human's answer in the one form that is signed, and the daemon keeps
 * it with the file key, in memory only (DESIGN §6.3).
 */

import type { Policy } from "./policy.ts";
import {
  decode,
  hash,
  id,
  list,
  nullable,
  optional,
  pattern,
  type Schema,
  shape,
  text,
  whole,
} from "./schema.ts";
import { CustosError } from "./errors.ts";
import { pathIsAmbiguous, withinPrefix } from "./target_path.ts";

/** What a grant allows. Exactly one of `path` and `path_prefix`; `content_sha256` narrows to one exact request. */
export interface GrantScope {
  origins: string[];
  methods: string[];
  path?: string | undefined;
  path_prefix?: string | undefined;
  content_sha256?: string | undefined;
}

/** The signed grant. `seconds` count from the daemon's acceptance. */
export interface Grant {
  grant_id: string;
  request_hash: string;
  secret_id: string;
  policy_hash: string;
  /** The agent name that may use it; `null` is the nameless agent, not every agent. */
  agent: string | null;
  scope: GrantScope;
  seconds: number;
  max_uses: number;
}

/** The shape of a grant. */
export const grantSchema: Schema<Grant> = shape<Grant>({
  grant_id: id,
  request_hash: hash,
  secret_id: id,
  policy_hash: hash,
  agent: nullable(text(64, 1)),
  scope: shape<GrantScope>({
    origins: list(text(300, 1), 20, 1),
    methods: list(pattern(/^[A-Z]{1,16}$/), 16, 1),
    path: optional(text(8_192, 1)),
    path_prefix: optional(text(1_024, 1)),
    content_sha256: optional(hash),
  }),
  seconds: whole(1, 2_592_000),
  max_uses: whole(1, 1_000_000),
});

/** A once-grant that nobody has claimed lives this long, in seconds (DESIGN §5.2). */
export const ONCE_SECONDS = 600;
/** The offer "this method and path": 15 minutes and at most 100 uses (DESIGN §6.3). */
export const PATH_OFFER: { readonly seconds: number; readonly max_uses: number } = {
  seconds: 900,
  max_uses: 100,
};

/** What a grant is asked about. */
export interface Use {
  agent: string | null;
  origin: string;
  method: string;
  path: string;
  content_sha256: string;
}

/** Whether a grant's scope covers a use. Time and number of uses are the gate's to check. */
export function covers(grant: Grant, use: Use): boolean {
  const { scope } = grant;
  if (grant.agent !== use.agent) return false;
  if (!scope.origins.includes(use.origin) || !scope.methods.includes(use.method)) return false;
  if (scope.path !== undefined && scope.path !== use.path) return false;
  if (scope.path_prefix !== undefined && !isBelow(use.path, scope.path_prefix)) return false;
  if (scope.path === undefined && scope.path_prefix === undefined) return false;
  return scope.content_sha256 === undefined || scope.content_sha256 === use.content_sha256;
}

/** A path that some server reads as another one is below nothing but the root (B18), also where the policy allows it. */
function isBelow(path: string, prefix: string): boolean {
  return withinPrefix(path, prefix) && (prefix === "/" || !pathIsAmbiguous(path));
}

/**
 * Reads an untrusted grant and holds it against the policy, its upper bound. Throws `bad_request` where it is wider:
 * a phone that was misled can narrow, never widen.
 */
export function readGrant(value: unknown, policy: Policy): Grant {
  const grant = decode(grantSchema, value, "grant");
  const fail = (why: string): never => {
    throw new CustosError("bad_request", `The grant was refused: ${why}`);
  };
  const { scope } = grant;
  if (grant.secret_id !== policy.secret_id) fail("it names another secret.");
  if ((scope.path === undefined) === (scope.path_prefix === undefined)) {
    fail("it needs a path or a path prefix.");
  }
  if (scope.origins.some((origin) => !policy.origins.includes(origin))) {
    fail("an origin is outside the policy.");
  }
  if (grant.seconds > Math.max(policy.limits.max_seconds, isOnce(grant) ? ONCE_SECONDS : 0)) {
    fail("it lasts longer than the policy allows.");
  }
  const path = scope.path ?? scope.path_prefix!;
  for (const method of scope.methods) {
    const allowed = policy.rules.some((rule) =>
      rule.methods.includes(method) && withinPrefix(path, rule.path_prefix)
    );
    if (!allowed) fail(`the policy has no rule for ${method} there.`);
  }
  return grant;
}

/** Whether a grant is for one exact request. */
export function isOnce(grant: Grant): boolean {
  return grant.max_uses === 1 && grant.scope.content_sha256 !== undefined;
}
