/**
 * The audit log on the phone: every entry is hashed into the phone's own Merkle tree (RFC 6962), and the tree is held
 * against what the daemon signed. A daemon that shows a person another history than the one it signed is found out here
 * (DESIGN §6.5, B162).
 */

import { type AuditLeaf, readLeaf } from "@custos/core/audit";
import { type Bytes, equalBytes, fromBase64url } from "@custos/core/bytes";
import { logOrigin, openCheckpoint } from "@custos/core/checkpoint";
import { appendLeaf, EMPTY_TREE, leafHash, treeRoot } from "@custos/core/merkle";
import type { DaemonMessage } from "@custos/core/messages";
import type { Activity, KnownLeaf, PhoneRecord } from "./phone_store.ts";

/** Entries that are kept to be shown; the tree covers all of them. */
export const KEPT_LEAVES = 500;

/** Before the first entry. */
export const NO_ACTIVITY: Activity = { tree: EMPTY_TREE, checked: 0, leaves: [] };

/** A size of the log, and the root that was signed for it. */
export interface SignedRoot {
  size: number;
  root: Bytes;
}

/** The activity after a signed root: `checked` where it is of the tree's own size and fits, `null` where it contradicts. */
export async function holdAgainst(activity: Activity, signed: SignedRoot): Promise<Activity | null> {
  const { tree, checked } = activity;
  if (signed.size !== tree.size || tree.size === 0) return activity;
  if (!equalBytes(await treeRoot(tree), signed.root)) return null;
  return checked === tree.size ? activity : { ...activity, checked: tree.size };
}

/** What a message with entries came to. `gap`: entries before them are missing. `unsigned` says nothing about the log. */
export type ActivityVerdict<K> = "audit_log_forked" | "gap" | "unsigned" | { record: PhoneRecord<K> };

/**
 * Takes entries. Those that this phone has are passed over; those beyond the signed size are not taken. Wherever the tree
 * reaches a size of which this phone knows the root, the two must agree; else nothing of the message is kept.
 */
export async function takeActivity<K>(
  record: PhoneRecord<K>,
  message: Extract<DaemonMessage, { t: "activity" }>,
): Promise<ActivityVerdict<K>> {
  const key = fromBase64url(record.log.state.audit_key ?? "");
  const signed = key === null
    ? null
    : await openCheckpoint(message.checkpoint, logOrigin(record.daemon), key);
  if (signed === null) return "unsigned";
  const { size, head } = record.audit_head;
  const roots: SignedRoot[] = head === null ? [signed] : [signed, { size, root: fromBase64url(head)! }];

  const { from } = message;
  let activity = record.activity;
  if (from > activity.tree.size) return "gap";
  const fresh = message.leaves.slice(activity.tree.size - from, Math.max(0, signed.size - from));
  const known: KnownLeaf[] = [];
  for (const text of fresh) {
    const bytes = fromBase64url(text)!;
    known.push({ index: activity.tree.size, leaf: readable(bytes) });
    activity = { ...activity, tree: await appendLeaf(activity.tree, await leafHash(bytes)) };
    for (const root of roots) {
      const held = await holdAgainst(activity, root);
      if (held === null) return "audit_log_forked";
      activity = held;
    }
  }
  const leaves = [...activity.leaves, ...known].slice(-KEPT_LEAVES);
  return { record: { ...record, activity: { ...activity, leaves } } };
}

/** An entry of a later version is kept in the tree all the same: what cannot be read must not be able to hide. */
function readable(bytes: Bytes): AuditLeaf | null {
  try {
    return readLeaf(bytes);
  } catch {
    return null;
  }
}
