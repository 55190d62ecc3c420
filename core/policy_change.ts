/**
 * A change of a secret's policy: a new version, or the end of the secret. What a new version allows beyond the old one is
 * computed here, by the phone to show it and by the daemon to ask for a word typed into the terminal (DESIGN §6.4).
 */

import { canonicalBytes } from "./canonical.ts";
import { equalBytes } from "./bytes.ts";
import { CustosError } from "./errors.ts";
import { withinPrefix } from "./target_path.ts";
import { type Policy, policyHash, policySchema, readPolicy } from "./policy.ts";
import { exactly, oneOf, type Schema, shape } from "./schema.ts";

/** What is to become of a secret. */
export type PolicyChange = { kind: "set"; policy: Policy } | { kind: "delete" };

/** The shape of a change. */
export const policyChangeSchema: Schema<PolicyChange> = oneOf<PolicyChange>(
  shape<Extract<PolicyChange, { kind: "set" }>>({ kind: exactly("set"), policy: policySchema }),
  shape<Extract<PolicyChange, { kind: "delete" }>>({ kind: exactly("delete") }),
);

/** One way in which a new version allows more. */
export type Widening =
  | { what: "origin"; origin: string }
  | { what: "rule"; method: string; path_prefix: string }
  | { what: "seconds"; from: number; to: number }
  | { what: "body"; from: number; to: number }
  | { what: "private_network" }
  | { what: "placement" };

/** Everything that `next` allows and `old` did not. Empty where it only narrows. */
export function widenings(old: Policy, next: Policy): Widening[] {
  const out: Widening[] = [];
  for (const origin of next.origins) if (!old.origins.includes(origin)) out.push({ what: "origin", origin });
  for (const { methods, path_prefix } of next.rules) {
    for (const method of methods) {
      const covered = old.rules.some((rule) =>
        rule.methods.includes(method) && withinPrefix(path_prefix, rule.path_prefix)
      );
      if (!covered) out.push({ what: "rule", method, path_prefix });
    }
  }
  const [was, is] = [old.limits, next.limits];
  if (is.max_seconds > was.max_seconds) {
    out.push({ what: "seconds", from: was.max_seconds, to: is.max_seconds });
  }
  if (is.max_body_bytes > was.max_body_bytes) {
    out.push({ what: "body", from: was.max_body_bytes, to: is.max_body_bytes });
  }
  if (is.private_network && !was.private_network) out.push({ what: "private_network" });
  if (!equalBytes(canonicalBytes(old.placement), canonicalBytes(next.placement))) {
    out.push({ what: "placement" });
  }
  return out;
}

/**
 * Refuses a new version that is not the next one of the same secret. Throws `bad_request`: the name is the handle that
 * agents know, and stays.
 */
export async function checkNextVersion(old: Policy, next: Policy): Promise<void> {
  readPolicy(next);
  const follows = next.secret_id === old.secret_id && next.name === old.name &&
    next.version === old.version + 1 &&
    next.prev === await policyHash(old) && next.epoch === old.epoch;
  if (!follows) {
    throw new CustosError(
      "bad_request",
      "The changed policy does not follow the one in force. Load it again and change that.",
    );
  }
}
