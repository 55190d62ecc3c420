/** The secret that an approval is about, and what a drop must bring to become one (DESIGN §6.3). */

import { type Bytes, fromBase64url } from "@custos/core/bytes";
import { headerHash, splitHeader } from "@custos/core/custody";
import { CustosError } from "@custos/core/errors";
import type { Decision } from "@custos/core/messages";
import { type Policy, policyHash, readPolicy } from "@custos/core/policy";
import { recipientsOf } from "@custos/core/policy_log";
import type { Addition, PolicyStore } from "./policy_store.ts";

/** A secret as an approval must name it. */
export interface Subject {
  policy: Policy;
  policy_hash: string;
  header: Bytes;
  header_sha256: string;
  /** What is to be stored; `null` where the secret is there already. */
  stored: Addition["secret"];
  /** Whether the secret ends. */
  deleted: boolean;
}

/** The secret that a drop brings: sealed to everybody, registered by its one entry. Throws `bad_request`. */
export async function droppedSecret(
  policies: PolicyStore,
  hash: string,
  decision: Extract<Decision, { decision: "grant" }>,
): Promise<Subject> {
  const age_file = decision.age_file === null ? null : fromBase64url(decision.age_file);
  if (age_file === null || decision.policy === null) throw refuse("it brings no secret");
  const policy = readPolicy(decision.policy);
  const policy_hash = await policyHash(policy);
  const { header, stanzas } = splitHeader(age_file);
  const header_sha256 = await headerHash(header);
  if (policy.request_hash !== hash || policy.version !== 1) {
    throw refuse("its policy belongs to another request");
  }
  if (policies.byName(policy.name) !== undefined) {
    throw refuse(`there is a secret named ${policy.name} already`);
  }
  if (stanzas !== recipientsOf(policies.state).length) {
    throw refuse("it is not sealed to all devices and the recovery sheet");
  }
  const entry = decision.records[0]?.entry.body;
  const registers = decision.records.length === 1 && entry?.type === "secret_register" &&
    entry.secret_id === policy.secret_id && entry.policy_hash === policy_hash &&
    entry.header_sha256 === header_sha256 &&
    entry.epoch === policy.epoch;
  if (!registers) throw refuse("its entry does not register this secret");
  return {
    policy,
    policy_hash,
    header,
    header_sha256,
    stored: { policy, policy_hash, header_sha256, age_file },
    deleted: false,
  };
}

/** The one form of a refused approval. */
export function refuse(why: string): CustosError {
  return new CustosError("bad_request", `The approval was refused: ${why}. Nothing was sent.`);
}
