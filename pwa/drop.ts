/**
 * A drop: the person pastes a value and says where it may go; the phone seals it, registers it in the policy log, and
 * signs all of it with one touch (DESIGN §6.3). The agent's suggestions never become an origin by themselves.
 */

import { approvalHash, type Bundle, replyToHash, sealFileKey } from "@custos/core/approval";
import { type Bytes, toBase64url } from "@custos/core/bytes";
import { headerHash, openHeader, sealSecret, splitHeader } from "@custos/core/custody";
import { CustosError } from "@custos/core/errors";
import { MAX_PLAINTEXT_BYTES } from "@custos/core/frame";
import { type Grant, readGrant } from "@custos/core/grant";
import { newId } from "@custos/core/ids";
import type { Decision } from "@custos/core/messages";
import { type Placement, type Policy, policyHash, type PolicyRule, readPolicy } from "@custos/core/policy";
import { type Entry, entryHash, type EntryRecord, genesisPrev } from "@custos/core/policy_entry";
import { applyEntry, recipientsOf } from "@custos/core/policy_log";
import { type CheckedSecret, checkSecretValue } from "@custos/core/secret_value";
import { bundleOf, requireCard } from "./approve.ts";
import type { VerifiedCard } from "./card.ts";
import { UNCOUNTED_USES } from "./offers.ts";
import { decide } from "./outbox.ts";
import type { PhoneParts } from "./phone_parts.ts";
import { type PhoneRecord, requireRecord } from "./phone_store.ts";
import { touchDevice } from "./touch.ts";

/** What the person fills in. */
export interface DropFields {
  name: string;
  origins: string[];
  placement: Placement;
  rules: PolicyRule[];
  /** Longest grant, in seconds. */
  max_seconds: number;
  /** Whether loopback and private addresses may be reached: a choice of its own, shown as a warning. */
  private_network: boolean;
  /** Largest request body, in bytes; {@link DROP_BODY_BYTES} where it is left out. */
  max_body_bytes?: number;
  /** A first grant for the agent that asked, in seconds; none where it is left out. */
  first_grant_seconds?: number;
}

/** Largest request body where the person did not say, in bytes. */
export const DROP_BODY_BYTES = 16_777_216;

/** What a decision holds beside the file, at most, in bytes: bundle and assertion twice, the policy, the sealed key. */
const SIGNED_BYTES = 8_192;

/** What a drop made. `notices` are sentences for the person: what was changed in the value. */
export interface Dropped {
  secret_id: string;
  policy: Policy;
  notices: string[];
}

type DropCard = Extract<VerifiedCard, { type: "drop" }>;

/** Everything that is made before the touch, so that nothing waits between the tap and the passkey (B122). */
interface Prepared {
  policy: Policy;
  file: Bytes;
  header: Bytes;
  header_sha256: string;
  entry: Entry;
  bundle: Bundle;
}

/**
 * Answers a drop card with a value. `value` is wiped. The decision is in the outbox afterwards.
 *
 * Throws `bad_request` on a value or fields that cannot be stored (never with a part of the value), `no_device` where the
 * passkey gives another key than the log lists, `body_too_large` where it does not fit into one message: then nothing was
 * stored. A `DOMException` means the person cancelled.
 */
export async function drop<K>(
  parts: Pick<PhoneParts<K>, "store" | "authenticator" | "now">,
  daemon: string,
  request_hash: string,
  fields: DropFields,
  value: Uint8Array,
): Promise<Dropped> {
  const record = await requireRecord(parts.store, daemon);
  const card = await requireCard(record, request_hash);
  if (card.type !== "drop") {
    throw new CustosError("bad_request", "This card does not ask for a secret. Approve or deny it.");
  }
  const { prepared, notices } = await seal(record, card, fields, value, parts.now());
  // Before the touch, with room for two bundles and two assertions: nobody should touch for what cannot be sent.
  if (prepared.file.length * 4 / 3 + SIGNED_BYTES > MAX_PLAINTEXT_BYTES) {
    throw new CustosError(
      "body_too_large",
      "The value and its rules are too long to be sent in one message. A value of 60,000 bytes fits with few rules.",
    );
  }
  const decision = await sign(parts, record, card, prepared);
  await parts.store.update(
    daemon,
    (latest) => Promise.resolve([decide(latest, decision, parts.now()), undefined]),
  );
  const { policy } = prepared;
  return { secret_id: policy.secret_id, policy, notices };
}

/** Seals the value and wipes it, also where it is refused. */
async function seal<K>(
  record: PhoneRecord<K>,
  card: DropCard,
  fields: DropFields,
  value: Uint8Array,
  now_ms: number,
): Promise<{ prepared: Prepared; notices: string[] }> {
  let checked: CheckedSecret | null = null;
  try {
    checked = checkSecretValue(value, fields.placement);
    return { prepared: await prepare(record, card, fields, checked.value, now_ms), notices: checked.notices };
  } finally {
    value.fill(0);
    checked?.value.fill(0);
  }
}

async function prepare<K>(
  record: PhoneRecord<K>,
  card: DropCard,
  fields: DropFields,
  value: Bytes,
  now_ms: number,
): Promise<Prepared> {
  const { state } = record.log;
  const policy = readPolicy(
    {
      v: 1,
      secret_id: newId(),
      name: fields.name,
      version: 1,
      prev: null,
      origins: fields.origins,
      rules: fields.rules,
      placement: fields.placement,
      request_hash: card.request_hash,
      limits: {
        max_seconds: fields.max_seconds,
        max_body_bytes: fields.max_body_bytes ?? DROP_BODY_BYTES,
        private_network: fields.private_network,
      },
      epoch: state.epoch,
      created_ms: now_ms,
    } satisfies Policy,
  );
  const file = await sealSecret(recipientsOf(state), policy, value);
  const { header } = splitHeader(file);
  const header_sha256 = await headerHash(header);
  const policy_hash = await policyHash(policy);
  const { secret_id, epoch } = policy;
  const entry: Entry = {
    v: 1,
    seq: state.size,
    prev: state.head ?? await genesisPrev(record.daemon),
    body: { type: "secret_register", secret_id, policy_hash, header_sha256, epoch },
  };
  const grant = firstGrant(card, policy, policy_hash, fields.first_grant_seconds);
  const reply_to = grant === null ? null : await replyToHash(card.doc.reply_to);
  const bundle: Bundle = {
    ...bundleOf(record, card, reply_to, now_ms),
    policy_hash,
    header_sha256,
    entries: [await entryHash(entry)],
    ...(grant === null ? {} : { grant }),
  };
  return { policy, file, header, header_sha256, entry, bundle };
}

/** A grant for the agent that asked: the methods of the first rule, below its path, at every origin of the policy. */
function firstGrant(
  card: DropCard,
  policy: Policy,
  policy_hash: string,
  seconds: number | undefined,
): Grant | null {
  if (seconds === undefined) return null;
  const { methods, path_prefix } = policy.rules[0]!;
  const grant: Grant = {
    grant_id: newId(),
    request_hash: card.request_hash,
    secret_id: policy.secret_id,
    policy_hash,
    agent: card.doc.agent.name,
    scope: { origins: [...policy.origins], methods: [...methods], path_prefix },
    seconds,
    max_uses: UNCOUNTED_USES,
  };
  return readGrant(grant, policy);
}

async function sign<K>(
  parts: Pick<PhoneParts<K>, "authenticator">,
  record: PhoneRecord<K>,
  card: DropCard,
  prepared: Prepared,
): Promise<Decision> {
  const { bundle, entry, header, header_sha256, file, policy } = prepared;
  const challenge = await approvalHash(bundle);
  const { assertion, identity } = await touchDevice(parts.authenticator, record, challenge);
  // The recipient matched the log; that this device also opens the very file is proven before it is the only copy.
  const fileKey = await openHeader(identity, header);
  const sealed_key = bundle.grant === undefined
    ? null
    : await sealFileKey(card.doc.reply_to, challenge, header_sha256, fileKey);
  fileKey.fill(0);
  const signed: EntryRecord = { entry, signed: { kind: "passkey", bundle, assertion } };
  await applyEntry(record.log.state, signed); // what this phone would refuse from others it does not send
  return {
    t: "decision",
    decision: "grant",
    request_hash: card.request_hash,
    bundle,
    assertion,
    sealed_key,
    age_file: toBase64url(file),
    policy,
    records: [signed],
  };
}

/** Whether the log still has the secret of a drop as it was made: the sign that the daemon accepted it. */
export function isRegistered<K>(record: PhoneRecord<K>, dropped: Dropped): boolean {
  return record.log.state.secrets.has(dropped.secret_id);
}
