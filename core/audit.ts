/**
 * What happened, as leaves of a Merkle tree (DESIGN §6.5). A leaf is a canonical document, so a newline or a quote in an
 * agent's text cannot make two of one (B162).
 */

import { type Bytes, equalBytes } from "./bytes.ts";
import { canonicalBytes, parseCanonical } from "./canonical.ts";
import { openCheckpoint } from "./checkpoint.ts";
import { appendLeaf, EMPTY_TREE, leafHash, treeRoot } from "./merkle.ts";
import {
  decode,
  exactly,
  nullable,
  optional,
  type Schema,
  shape,
  text,
  timeMs,
  whole,
  word,
} from "./schema.ts";

/** Everything that is recorded. */
export const AUDIT_EVENTS = [
  "daemon_started",
  "daemon_stopped",
  "pairing_begun",
  "pairing_failed",
  "device_added",
  "request_created",
  "request_refused",
  "request_joined",
  "card_sent",
  "decision_refused",
  "granted",
  "denied",
  "expired",
  "withdrawn",
  "secret_stored",
  "send_started",
  "send_finished",
  "send_failed",
  "outcome_unknown",
  "scrubbed",
  "grant_ended",
  "locked",
  "channel_refused",
] as const;
/** One of {@link AUDIT_EVENTS}. */
export type AuditEvent = typeof AUDIT_EVENTS[number];

/** One leaf. Fields that an event does not have are absent. No field ever holds a secret, a body or a header's value. */
export interface AuditLeaf {
  v: 1;
  time_ms: number;
  event: AuditEvent;
  request_id?: string | undefined;
  request_hash?: string | undefined;
  fingerprint?: string | undefined;
  handle?: string | undefined;
  agent?: string | null | undefined;
  method?: string | undefined;
  origin?: string | undefined;
  path?: string | undefined;
  /** Error kind, or a short code that says why. */
  why?: string | undefined;
  device?: string | undefined;
  grant_id?: string | undefined;
  approval_hash?: string | undefined;
  /** Upstream status. */
  status?: number | undefined;
  /** SHA-256 of the scrubbed answer, base64url. */
  response_sha256?: string | undefined;
  bytes?: number | undefined;
  redactions?: number | undefined;
}

const short = optional(text(128));

const leafSchema: Schema<AuditLeaf> = shape<AuditLeaf>({
  v: exactly(1),
  time_ms: timeMs,
  event: word<AuditEvent>(...AUDIT_EVENTS),
  request_id: short,
  request_hash: short,
  fingerprint: short,
  handle: short,
  agent: optional(nullable(text(64))),
  method: short,
  origin: optional(text(300)),
  path: optional(text(8_192)),
  why: short,
  device: short,
  grant_id: short,
  approval_hash: short,
  status: optional(whole(0, 999)),
  response_sha256: short,
  bytes: optional(whole(0, Number.MAX_SAFE_INTEGER)),
  redactions: optional(whole(0, Number.MAX_SAFE_INTEGER)),
});

/** The bytes of a leaf. */
export function encodeLeaf(leaf: AuditLeaf): Bytes {
  return canonicalBytes(leaf);
}

/** Reads a leaf. Throws `bad_request`. */
export function readLeaf(bytes: Uint8Array): AuditLeaf {
  return decode(leafSchema, parseCanonical(bytes), "audit entry");
}

/** What {@link verifyLog} found; refusal comes first. `at` is the index of the first bad entry, where there is one. */
export type LogVerdict = { ok: false; why: string; at: number | null } | { ok: true; size: number };

/**
 * Checks a whole log against a signed checkpoint: every leaf reads, there are exactly as many as were signed, and their
 * tree has the signed root. A cut tail, a changed, swapped, added or lost entry are each found (B162).
 */
export async function verifyLog(
  leaves: readonly Uint8Array[],
  checkpoint: string,
  origin: string,
  publicKey: Uint8Array,
): Promise<LogVerdict> {
  const signed = await openCheckpoint(checkpoint, origin, publicKey);
  if (signed === null) {
    return { ok: false, why: "the checkpoint is not signed by this daemon's key", at: null };
  }
  let tree = EMPTY_TREE;
  for (const [index, leaf] of leaves.entries()) {
    try {
      readLeaf(leaf);
    } catch {
      return { ok: false, why: "an entry cannot be read", at: index };
    }
    tree = appendLeaf(tree, leafHash(leaf));
  }
  if (tree.size !== signed.size) {
    return { ok: false, why: `${signed.size} entries were signed, and ${tree.size} are here`, at: null };
  }
  if (!equalBytes(treeRoot(tree), signed.root)) {
    return { ok: false, why: "the entries are not the ones that were signed", at: null };
  }
  return { ok: true, size: tree.size };
}
