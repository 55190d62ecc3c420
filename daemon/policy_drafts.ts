/** The request of a change that a person began on a phone. It has words and a card like all others (DESIGN §6.3). */

import { CustosError } from "@custos/core/errors";
import { checkNextVersion, type PolicyChange } from "@custos/core/policy_change";
import { handleOf } from "@custos/core/request";
import type { Draft } from "./asks.ts";
import type { PolicyStore } from "./policy_store.ts";

/** Checks a change and makes its draft. Throws `unknown_handle` or `bad_request`; nobody is asked then. */
export async function changeDraft(
  policies: PolicyStore,
  secretId: string,
  change: PolicyChange,
): Promise<Draft> {
  const secret = policies.secrets().find(({ secret_id }) => secret_id === secretId);
  if (secret === undefined) {
    throw new CustosError("unknown_handle", "There is no such secret on this computer any more.");
  }
  if (change.kind === "set") await checkNextVersion(secret.policy, change.policy);
  const { secret_id, name, policy_hash, header_sha256 } = secret;
  return {
    type: "policy",
    agent: { name: null, client: null },
    reason: "",
    handle: handleOf(name),
    secret_id,
    policy_hash,
    header_sha256,
    change,
  };
}
