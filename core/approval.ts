/**
 * The approval bundle: everything a touch of the passkey decides, in one document whose hash is the WebAuthn challenge
 * (DESIGN §6.3). The same touch gives the PRF output that opens the secret's header.
 */

import type { Assertion } from "./assertion.ts";
import { type Bytes, fromBase64url, toBase64url } from "./bytes.ts";
import { canonicalBytes, parseCanonical } from "./canonical.ts";
import { isHybridRecipient, sealTo } from "./custody.ts";
import { CustosError } from "./errors.ts";
import { type Grant, grantSchema } from "./grant.ts";
import { labelledHash } from "./labels.ts";
import {
  base64urlOf,
  base64urlUpTo,
  decode,
  exactly,
  hash,
  id,
  list,
  nullable,
  optional,
  type Schema,
  shape,
  timeMs,
  whole,
} from "./schema.ts";

/** Where a log stood when the phone decided: how many entries, and the hash of the last one (`null` where none). */
export interface LogHead {
  size: number;
  head: string | null;
}

/** What a touch signs. A denial needs no passkey, so `decision` has one value (DESIGN §6.3). */
export interface Bundle {
  v: 1;
  daemon: string;
  /** Id of the deciding device. */
  device: string;
  decision: "grant";
  request_hash: string;
  /** Policy of the secret that is granted or registered. */
  policy_hash?: string | undefined;
  grant?: Grant | undefined;
  /** Header of the secret that is granted or registered. */
  header_sha256?: string | undefined;
  /** `H("custos/reply-to/v1", reply_to)`: the key goes to this daemon run only. `null` where no key is sent. */
  reply_to_sha256: string | null;
  /** Hashes of exactly the policy-log entries that this decision adds. */
  entries: string[];
  log_head: LogHead;
  /** Root hash and size of the audit log as the phone last accepted it: the touch cosigns it. */
  audit_head: LogHead;
  issued_ms: number;
}

/** The shape of a log head. */
export const logHeadSchema: Schema<LogHead> = shape<LogHead>({ size: whole(0, 1e12), head: nullable(hash) });

/** The shape of a bundle. */
export const bundleSchema: Schema<Bundle> = shape<Bundle>({
  v: exactly(1),
  daemon: id,
  device: id,
  decision: exactly("grant"),
  request_hash: hash,
  policy_hash: optional(hash),
  grant: optional(grantSchema),
  header_sha256: optional(hash),
  reply_to_sha256: nullable(hash),
  entries: list(hash, 100),
  log_head: logHeadSchema,
  audit_head: logHeadSchema,
  issued_ms: timeMs,
});

/** The shape of an assertion. */
export const assertionSchema: Schema<Assertion> = shape<Assertion>({
  credential_id: base64urlUpTo(1_023),
  client_data_json: base64urlUpTo(4_096),
  authenticator_data: base64urlUpTo(4_096),
  signature: base64urlUpTo(256),
});

/** Reads an untrusted bundle. Throws `bad_request`. */
export function readBundle(value: unknown): Bundle {
  return decode(bundleSchema, value, "approval bundle");
}

/** The challenge that a touch signs: `H("custos/approval/v1", JCS(bundle))`, 32 bytes. */
export async function approvalHash(bundle: Bundle): Promise<Bytes> {
  return await labelledHash("approval", canonicalBytes(bundle));
}

/** `H("custos/reply-to/v1", recipient)` as base64url. */
export async function replyToHash(recipient: string): Promise<string> {
  return toBase64url(await labelledHash("reply_to", new TextEncoder().encode(recipient)));
}

/** What the phone seals to the daemon's one-time recipient: the key of one file, bound to one approval. */
export interface SealedKey {
  approval_hash: string;
  header_sha256: string;
  /** 16 bytes, base64url. */
  file_key: string;
}

const sealedKeySchema: Schema<SealedKey> = shape<SealedKey>({
  approval_hash: hash,
  header_sha256: hash,
  file_key: base64urlOf(16),
});

/** Seals a file key for an approval. Returns base64url of an age file. */
export async function sealFileKey(
  replyTo: string,
  approval: Bytes,
  header: string,
  fileKey: Uint8Array,
): Promise<string> {
  if (!isHybridRecipient(replyTo)) {
    throw new CustosError("bad_request", "The card names no recipient for the key.");
  }
  const sealed: SealedKey = {
    approval_hash: toBase64url(approval),
    header_sha256: header,
    file_key: toBase64url(fileKey),
  };
  return toBase64url(await sealTo([replyTo], canonicalBytes(sealed)));
}

/** Reads the plaintext of {@link sealFileKey}; throws `bad_request` unless it is for this approval and header. */
export function readFileKey(plaintext: Uint8Array, approval: Bytes, header: string): Bytes {
  const sealed = decode(sealedKeySchema, parseCanonical(plaintext), "sealed key");
  if (sealed.approval_hash !== toBase64url(approval) || sealed.header_sha256 !== header) {
    throw new CustosError("bad_request", "The key in this approval belongs to another approval.");
  }
  return fromBase64url(sealed.file_key)!;
}
