/**
 * The policy log between phone and daemon (DESIGN §6.5). The phone keeps the whole log, verifies every entry itself, and
 * never goes back: a daemon that has less gets what it lacks, a daemon that has another is not believed.
 */

import type { LogHead } from "@custos/core/approval";
import { canonicalBytes } from "@custos/core/canonical";
import { logOrigin, openCheckpoint } from "@custos/core/checkpoint";
import { equalBytes, fromBase64url, toBase64url } from "@custos/core/bytes";
import type { PhoneMessage } from "@custos/core/messages";
import { entryHash, type EntryRecord } from "@custos/core/policy_entry";
import { applyEntries } from "@custos/core/policy_log";
import { type Policy, policyHash } from "@custos/core/policy";
import { holdAgainst } from "./activity.ts";
import type { PhoneRecord } from "./phone_store.ts";

/** Room for records in one message, in bytes, below the longest plaintext of a frame. */
const BATCH_BYTES = 100_000;
/** Most records in one message (`core/messages.ts`). */
const BATCH_RECORDS = 100;

/** The outcome of looking at the daemon's head: what to send it. */
export type HeadVerdict = "forked" | { ask: true } | { push: PhoneMessage[] };

/**
 * Compares the daemon's head with this phone's log. A lower head gets the entries that it lacks; a higher one is asked
 * for; one that contradicts an entry that this phone has verified is a fork.
 */
export async function compareHead<K>(record: PhoneRecord<K>, head: LogHead): Promise<HeadVerdict> {
  const { records, state } = record.log;
  if (head.size > state.size) return { ask: true };
  const last = head.size === 0 ? null : await entryHash(records[head.size - 1]!.entry);
  if (head.head !== last) return "forked";
  return { push: batches(records, head.size) };
}

/** Messages that carry the records from `from` on. */
function batches(records: readonly EntryRecord[], from: number): PhoneMessage[] {
  const messages: PhoneMessage[] = [];
  let at = from;
  while (at < records.length) {
    const first = at;
    let bytes = 0;
    while (at < records.length && at - first < BATCH_RECORDS) {
      bytes += canonicalBytes(records[at]!).length;
      if (bytes > BATCH_BYTES && at > first) break;
      at++;
    }
    messages.push({ t: "entries", from: first, records: records.slice(first, at) });
  }
  return messages;
}

/** What entries from the daemon came to. `gap`: some before them are missing. */
export type EntriesVerdict<K> = "forked" | "gap" | { record: PhoneRecord<K> };

/**
 * Takes entries of the daemon. Those that this phone has must be the same ones; the others must each follow, and be
 * signed by a listed device or the recovery sheet. Throws `bad_request` where one does not verify; then nothing is taken.
 */
export async function takeEntries<K>(
  record: PhoneRecord<K>,
  from: number,
  records: readonly EntryRecord[],
): Promise<EntriesVerdict<K>> {
  const { log } = record;
  if (from > log.state.size) return "gap";
  const known = log.records.slice(from, from + records.length);
  for (const [at, mine] of known.entries()) {
    if (await entryHash(mine.entry) !== await entryHash(records[at]!.entry)) return "forked";
  }
  const fresh = records.slice(known.length);
  if (fresh.length === 0) return { record };
  const state = await applyEntries(log.state, fresh);
  return { record: { ...record, log: { records: [...log.records, ...fresh], state } } };
}

/** What a checkpoint of the audit log came to. `unsigned` is ignored: it says nothing about the log. */
export type CheckpointVerdict<K> =
  | "unsigned"
  | "audit_log_forked"
  | "audit_log_cut"
  | { record: PhoneRecord<K> };

/**
 * Takes a signed checkpoint. The phone is the log's witness: the root of a size that it has accepted never changes, and no
 * session may state a log that is shorter than it was when the session began. Between these, a smaller size is only a
 * message that was overtaken, and changes nothing.
 */
export async function takeCheckpoint<K>(record: PhoneRecord<K>, note: string): Promise<CheckpointVerdict<K>> {
  const key = fromBase64url(record.log.state.audit_key ?? "");
  const origin = logOrigin(record.daemon);
  const checkpoint = key === null ? null : await openCheckpoint(note, origin, key);
  if (checkpoint === null) return "unsigned";
  const { size, root } = checkpoint;
  const mine = record.audit_head;
  if (size < record.audit_floor) return "audit_log_cut";
  // The phone's own tree is held against every checkpoint of its size, also one that was overtaken.
  const activity = await holdAgainst(record.activity, { size, root });
  if (activity === null) return "audit_log_forked";
  if (size < mine.size) return { record: { ...record, activity } };
  if (size === mine.size && mine.head !== null && !equalBytes(root, fromBase64url(mine.head)!)) {
    return "audit_log_forked";
  }
  return {
    record: { ...record, activity, audit_head: { size, head: size === 0 ? null : toBase64url(root) } },
  };
}

/**
 * Takes clear policies. Only those are kept that hash to what the log says of their secret: the daemon can leave one out,
 * and cannot show another one.
 */
export async function takePolicies<K>(
  record: PhoneRecord<K>,
  policies: readonly Policy[],
): Promise<PhoneRecord<K>> {
  const { secrets } = record.log.state;
  const kept = new Map<string, Policy>();
  for (const policy of [...record.policies, ...policies]) {
    const latest = secrets.get(policy.secret_id)?.policy_hash;
    if (latest !== undefined && latest === await policyHash(policy)) kept.set(policy.secret_id, policy);
  }
  const sorted = [...kept.values()].sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  return { ...record, policies: sorted };
}
