/**
 * The entries of the policy log (DESIGN §6.5): who may approve, what secrets there are, and which version of a policy
 * and ciphertext is the latest. Each entry names its predecessor, and each is signed by a listed device or by the
 * recovery sheet.
 */

import { toBase64url } from "./bytes.ts";
import { assertionSchema, type Bundle, bundleSchema } from "./approval.ts";
import type { Assertion } from "./assertion.ts";
import { canonicalBytes } from "./canonical.ts";
import { isHybridRecipient } from "./custody.ts";
import { labelledHash } from "./labels.ts";
import {
  base64urlOf,
  base64urlUpTo,
  decode,
  exactly,
  hash,
  id,
  list,
  oneOf,
  type Schema,
  shape,
  text,
  timeMs,
  whole,
} from "./schema.ts";
import * as z from "zod/mini";

/** An enrolled device. Public: anybody who holds the log knows it. */
export interface DeviceRecord {
  device_id: string;
  name: string;
  platform: string;
  credential_id: string;
  /** COSE_Key, base64url. */
  public_key: string;
  /** Hybrid recipient of `epoch`. */
  recipient: string;
  rp_id: string;
  origin: string;
  added_ms: number;
}

/** Which ciphertext and policy of a secret is the latest. */
export interface SecretRecord {
  secret_id: string;
  policy_hash: string;
  header_sha256: string;
  epoch: string;
}

/** What an entry says. */
export type EntryBody =
  | {
    type: "genesis";
    daemon: string;
    daemon_name: string;
    epoch: string;
    device: DeviceRecord;
    recovery: { recipient: string; sign_public: string };
    /** The daemon's Ed25519 key for checkpoints of the audit log, base64url. */
    audit_key: string;
  }
  | { type: "device_add"; device: DeviceRecord }
  | { type: "device_remove"; device_id: string }
  | ({ type: "secret_register" } & SecretRecord)
  | ({ type: "policy_set" } & SecretRecord)
  | { type: "secret_delete"; secret_id: string }
  | { type: "epoch_rotate"; epoch: string; recipients: { device_id: string; recipient: string }[] }
  | { type: "recovery_use"; device: DeviceRecord }
  | { type: "restore"; old: string; new: string };

/** An entry. `prev` of entry 0 is `H("custos/genesis-prev/v1", daemon)`, so that two daemons never share a chain. */
export interface Entry {
  v: 1;
  seq: number;
  prev: string;
  body: EntryBody;
}

/** Who signed an entry. A bundle can sign several entries; each record then carries it. */
export type EntrySignature =
  | { kind: "passkey"; bundle: Bundle; assertion: Assertion }
  | { kind: "recovery"; signature: string };

/** An entry with its signature, as it is stored and sent. */
export interface EntryRecord {
  entry: Entry;
  signed: EntrySignature;
}

const recipient: Schema<string> = z.string().check(z.refine(isHybridRecipient));

/** The shape of a device record. */
export const deviceRecordSchema: Schema<DeviceRecord> = shape<DeviceRecord>({
  device_id: id,
  name: text(64, 1),
  platform: text(64),
  credential_id: base64urlUpTo(1_023),
  public_key: base64urlUpTo(128),
  recipient,
  rp_id: text(253, 1),
  origin: text(300, 1),
  added_ms: timeMs,
});

const secretRecord = { secret_id: id, policy_hash: hash, header_sha256: hash, epoch: id } as const;

const bodySchema: Schema<EntryBody> = oneOf<EntryBody>(
  shape<Extract<EntryBody, { type: "genesis" }>>({
    type: exactly("genesis"),
    daemon: id,
    daemon_name: text(64, 1),
    epoch: id,
    device: deviceRecordSchema,
    recovery: shape<{ recipient: string; sign_public: string }>({ recipient, sign_public: base64urlOf(32) }),
    audit_key: base64urlOf(32),
  }),
  shape<Extract<EntryBody, { type: "device_add" }>>({
    type: exactly("device_add"),
    device: deviceRecordSchema,
  }),
  shape<Extract<EntryBody, { type: "device_remove" }>>({ type: exactly("device_remove"), device_id: id }),
  shape<Extract<EntryBody, { type: "secret_register" }>>({
    type: exactly("secret_register"),
    ...secretRecord,
  }),
  shape<Extract<EntryBody, { type: "policy_set" }>>({ type: exactly("policy_set"), ...secretRecord }),
  shape<Extract<EntryBody, { type: "secret_delete" }>>({ type: exactly("secret_delete"), secret_id: id }),
  shape<Extract<EntryBody, { type: "epoch_rotate" }>>({
    type: exactly("epoch_rotate"),
    epoch: id,
    recipients: list(shape<{ device_id: string; recipient: string }>({ device_id: id, recipient }), 16, 1),
  }),
  shape<Extract<EntryBody, { type: "recovery_use" }>>({
    type: exactly("recovery_use"),
    device: deviceRecordSchema,
  }),
  shape<Extract<EntryBody, { type: "restore" }>>({ type: exactly("restore"), old: hash, new: hash }),
);

/** The shape of an entry. */
export const entrySchema: Schema<Entry> = shape<Entry>({
  v: exactly(1),
  seq: whole(0, 1e9),
  prev: hash,
  body: bodySchema,
});

/** The shape of a record. */
export const entryRecordSchema: Schema<EntryRecord> = shape<EntryRecord>({
  entry: entrySchema,
  signed: oneOf<EntrySignature>(
    shape<Extract<EntrySignature, { kind: "passkey" }>>({
      kind: exactly("passkey"),
      bundle: bundleSchema,
      assertion: assertionSchema,
    }),
    shape<Extract<EntrySignature, { kind: "recovery" }>>({
      kind: exactly("recovery"),
      signature: base64urlOf(64),
    }),
  ),
});

/** Reads an untrusted record. Throws `bad_request`. */
export function readEntryRecord(value: unknown): EntryRecord {
  return decode(entryRecordSchema, value, "policy-log entry");
}

/** `H("custos/entry/v1", JCS(entry))` as base64url. */
export async function entryHash(entry: Entry): Promise<string> {
  return toBase64url(await labelledHash("entry", canonicalBytes(entry)));
}

/** `prev` of a daemon's first entry. */
export async function genesisPrev(daemon: string): Promise<string> {
  return toBase64url(await labelledHash("genesis_prev", new TextEncoder().encode(daemon)));
}
