/**
 * An approved change of a policy: the next version of the same secret, sealed anew by the phone to all recipients; or the
 * end of the secret (DESIGN §6.3 last paragraph, §6.5).
 */

import { fromBase64url } from "@custos/core/bytes";
import { headerHash, splitHeader } from "@custos/core/custody";
import type { Decision } from "@custos/core/messages";
import { policyHash } from "@custos/core/policy";
import { checkNextVersion } from "@custos/core/policy_change";
import { recipientsOf } from "@custos/core/policy_log";
import { nameOfHandle, type RequestOf } from "@custos/core/request";
import { refuse, type Subject } from "./approval_subject.ts";
import type { PolicyStore } from "./policy_store.ts";

/** The secret as the change leaves it. Throws `bad_request`. */
export async function changedSecret(
  policies: PolicyStore,
  doc: RequestOf<"policy">,
  decision: Extract<Decision, { decision: "grant" }>,
): Promise<Subject> {
  const secret = policies.byName(nameOfHandle(doc.handle) ?? "");
  if (secret?.secret_id !== doc.secret_id || secret.policy_hash !== doc.policy_hash) {
    throw refuse("the secret has changed since the card was sent");
  }
  const body = decision.records.length === 1 ? decision.records[0]!.entry.body : null;
  if (doc.change.kind === "delete") {
    if (body?.type !== "secret_delete" || body.secret_id !== doc.secret_id) {
      throw refuse("its entry does not delete this secret");
    }
    const { policy, policy_hash, header_sha256, age_file } = secret;
    return {
      policy,
      policy_hash,
      header: splitHeader(age_file).header,
      header_sha256,
      stored: null,
      deleted: true,
    };
  }
  const { policy } = doc.change;
  await checkNextVersion(secret.policy, policy);
  const age_file = decision.age_file === null ? null : fromBase64url(decision.age_file);
  if (age_file === null) throw refuse("it brings no ciphertext");
  const policy_hash = await policyHash(policy);
  const { header, stanzas } = splitHeader(age_file);
  const header_sha256 = await headerHash(header);
  if (header_sha256 === secret.header_sha256) throw refuse("the secret was not sealed anew");
  if (stanzas !== recipientsOf(policies.state).length) {
    throw refuse("it is not sealed to all devices and the recovery sheet");
  }
  const sets = body?.type === "policy_set" && body.secret_id === policy.secret_id &&
    body.policy_hash === policy_hash &&
    body.header_sha256 === header_sha256 && body.epoch === policy.epoch;
  if (!sets) throw refuse("its entry does not set this policy");
  return {
    policy,
    policy_hash,
    header,
    header_sha256,
    stored: { policy, policy_hash, header_sha256, age_file },
    deleted: false,
  };
}
