/** A drop that is made by hand, so that a test can change any one thing in it. */

import { approvalHash, type Bundle } from "@custos/core/approval";
import type { Assertion } from "@custos/core/assertion";
import { type Bytes, toBase64url, utf8 } from "@custos/core/bytes";
import { headerHash, sealSecret, splitHeader } from "@custos/core/custody";
import { newId } from "@custos/core/ids";
import { type Policy, policyHash } from "@custos/core/policy";
import { type Entry, entryHash, type EntryRecord } from "@custos/core/policy_entry";
import { recipientsOf } from "@custos/core/policy_log";
import { logHeadOf, type StoredCard } from "@custos/pwa";
import type { House } from "./harness.ts";
import { type Approval, touch } from "./harness_hostile.ts";

/** What is to be wrong. Each is a function of what would be right. */
export interface WrongDrop {
  policy?: (policy: Policy) => Policy;
  /** The policy inside the ciphertext, in place of the one that is signed. */
  inner?: (policy: Policy) => Policy;
  recipients?: (recipients: string[]) => string[];
  seal?: (recipients: string[], policy: Policy, value: Bytes) => Promise<Bytes>;
  entry?: (entry: Entry) => Entry;
  bundle?: (bundle: Bundle) => Bundle;
  record?: (record: EntryRecord) => EntryRecord;
  sign?: (challenge: Bytes) => Promise<Assertion>;
  decision?: (decision: Approval) => Approval;
}

/** A drop's answer with a value for the API of the house, right but for what is said. */
export async function dropOf(
  house: House,
  card: StoredCard,
  name: string,
  wrong: WrongDrop = {},
): Promise<Approval> {
  const record = await house.phone.record();
  const { state } = record.log;
  const same = <T>(value: T) => value;
  const policy = (wrong.policy ?? same)({
    v: 1,
    secret_id: newId(),
    name,
    version: 1,
    prev: null,
    origins: [house.api.origin],
    rules: [{ methods: ["GET"], path_prefix: "/" }],
    placement: { kind: "bearer" },
    request_hash: card.request_hash,
    limits: { max_seconds: 600, max_body_bytes: 1_024, private_network: true },
    epoch: state.epoch,
    created_ms: Date.now(),
  });
  const recipients = (wrong.recipients ?? same)([...recipientsOf(state)]);
  const inner = (wrong.inner ?? same)(policy);
  const file = await (wrong.seal ?? sealSecret)(recipients, inner, utf8("hostile_value_0123456789"));
  const header_sha256 = await headerHash(headerOf(file));
  const policy_hash = await policyHash(policy);
  const { secret_id, epoch } = policy;
  const entry = (wrong.entry ?? same)({
    v: 1,
    seq: state.size,
    prev: state.head!,
    body: { type: "secret_register", secret_id, policy_hash, header_sha256, epoch },
  });
  const bundle = (wrong.bundle ?? same)({
    v: 1,
    daemon: record.daemon,
    device: record.device,
    decision: "grant",
    request_hash: card.request_hash,
    policy_hash,
    header_sha256,
    reply_to_sha256: null,
    entries: [await entryHash(entry)],
    log_head: logHeadOf(record),
    audit_head: record.audit_head,
    issued_ms: Date.now(),
  });
  const assertion = await (wrong.sign ?? ((hash) => touch(house, hash)))(await approvalHash(bundle));
  const signed = (wrong.record ?? same)({ entry, signed: { kind: "passkey", bundle, assertion } });
  return (wrong.decision ?? same)({
    t: "decision",
    decision: "grant",
    request_hash: card.request_hash,
    bundle,
    assertion,
    sealed_key: null,
    age_file: toBase64url(file),
    policy,
    records: [signed],
  });
}

/** The header, or all of it where this is no file that custos would read. */
function headerOf(file: Bytes): Bytes {
  try {
    return splitHeader(file).header;
  } catch {
    return file;
  }
}
