/**
 * The messages inside a channel (DESIGN §7). Each is a canonical document of one shape; a message that does not decode
 * changes nothing. The last three belong to pairing, which ends inside the channel that it made.
 */

import { assertionSchema, type Bundle, bundleSchema, type LogHead, logHeadSchema } from "./approval.ts";
import type { Assertion } from "./assertion.ts";
import type { Bytes } from "./bytes.ts";
import { canonicalBytes, parseCanonical } from "./canonical.ts";
import { type Grant, grantSchema } from "./grant.ts";
import { type Policy, policySchema } from "./policy.ts";
import { type PolicyChange, policyChangeSchema } from "./policy_change.ts";
import { type EntryRecord, entryRecordSchema } from "./policy_entry.ts";
import { type RequestDoc, requestSchema } from "./request.ts";
import {
  base64urlOf,
  base64urlUpTo,
  decode,
  exactly,
  flag,
  hash,
  id,
  list,
  nullable,
  oneOf,
  type Schema,
  shape,
  text,
  timeMs,
  whole,
  word,
} from "./schema.ts";

/** How a request ended, or `pending`. A granted drop is `delivered`. */
export const REQUEST_STATUSES = [
  "pending",
  "granted",
  "denied",
  "expired",
  "withdrawn",
  "delivered",
] as const;
/** One of {@link REQUEST_STATUSES}. */
export type RequestStatus = typeof REQUEST_STATUSES[number];

/** A grant that is live, as the phone shows it. */
export interface LiveGrant {
  grant: Grant;
  name: string;
  uses_left: number;
  expires_ms: number;
}

/** From the daemon. */
export type DaemonMessage =
  | {
    t: "hello";
    daemon: string;
    daemon_name: string;
    version: string;
    now_ms: number;
    log_head: LogHead;
    /** Signed note of the audit log (`core/checkpoint.ts`). */
    checkpoint: string;
  }
  /** Everything that is pending now, by request hash; cards follow. What is not named here is over. */
  | { t: "sync"; pending: string[]; grants: LiveGrant[]; now_ms: number; checkpoint: string }
  | {
    t: "card";
    doc: RequestDoc;
    /** Where the request is about an existing secret: its clear policy and its age header. */
    policy: Policy | null;
    header: string | null;
    /** The last approved request of the same shape, for the diff. */
    previous: RequestDoc | null;
  }
  /** The whole ciphertext behind the card of a policy change: the phone opens it and seals it anew. */
  | { t: "age_file"; request_hash: string; age_file: string }
  | { t: "decided"; request_hash: string; status: RequestStatus; by: string | null; reason: string | null }
  /** The clear policies in force. Each must hash to what the policy log says. */
  | { t: "policies"; policies: Policy[] }
  /** Audit leaves from index `from` on, base64url; the checkpoint covers them once the phone has as many as it says. */
  | { t: "activity"; from: number; leaves: string[]; checkpoint: string }
  | { t: "entries"; from: number; records: EntryRecord[] }
  | { t: "error"; code: string; about: string | null; message: string }
  | {
    t: "pair_ready";
    daemon: string;
    daemon_name: string;
    epoch: string;
    /** The daemon's Ed25519 audit key, base64url. */
    audit_key: string;
    log_head: LogHead;
    /** Credential ids of this daemon's devices, which `create()` must exclude. */
    exclude: string[];
    /** `register` a first device; `repair` a channel of a known one. */
    mode: "register" | "repair";
  }
  | { t: "registered"; device: string; words_key: string; record: EntryRecord; checkpoint: string };

/** A phone's answer to a card. */
export type Decision =
  | { t: "decision"; decision: "deny"; request_hash: string; mute_until_ms: number | null }
  | {
    t: "decision";
    decision: "grant";
    request_hash: string;
    bundle: Bundle;
    assertion: Assertion;
    /** The file key, sealed to `reply_to`; `null` where nothing is to be opened. */
    sealed_key: string | null;
    /** The new ciphertext and clear policy of a drop, proposal or policy change. */
    age_file: string | null;
    policy: Policy | null;
    /** The entries that `bundle.entries` names, each with this bundle and assertion as its signature. */
    records: EntryRecord[];
  };

/** From the phone. */
export type PhoneMessage =
  | { t: "hello"; device: string; build: string; now_ms: number; log_head: LogHead; audit_head: LogHead }
  | { t: "sync"; log_size: number }
  | Decision
  | { t: "entries"; from: number; records: EntryRecord[] }
  | { t: "mute"; agent: string | null; all: boolean; until_ms: number }
  | { t: "lock" }
  /** Begins a change of a secret; the daemon answers with a card of type `policy`. */
  | { t: "change"; secret_id: string; change: PolicyChange }
  | { t: "activity"; from: number }
  | { t: "revoke"; grant_id: string }
  | { t: "error"; code: string; about: string | null; message: string }
  | {
    t: "register";
    client_data_json: string;
    attestation_object: string;
    credential_id: string;
    record: EntryRecord;
  };

type D<T extends DaemonMessage["t"]> = Extract<DaemonMessage, { t: T }>;
type P<T extends PhoneMessage["t"]> = Extract<PhoneMessage, { t: T }>;

const status: Schema<RequestStatus> = word<RequestStatus>(...REQUEST_STATUSES);
const checkpoint: Schema<string> = text(2_048);
const records: Schema<EntryRecord[]> = list(entryRecordSchema, 100);
const error = { t: exactly("error"), code: text(64), about: nullable(hash), message: text(500) } as const;

const liveGrant: Schema<LiveGrant> = shape<LiveGrant>({
  grant: grantSchema,
  name: text(63, 1),
  uses_left: whole(0, 1e9),
  expires_ms: timeMs,
});

const daemonSchema: Schema<DaemonMessage> = oneOf<DaemonMessage>(
  shape<D<"hello">>({
    t: exactly("hello"),
    daemon: id,
    daemon_name: text(64, 1),
    version: text(32),
    now_ms: timeMs,
    log_head: logHeadSchema,
    checkpoint,
  }),
  shape<D<"sync">>({
    t: exactly("sync"),
    pending: list(hash, 64),
    grants: list(liveGrant, 200),
    now_ms: timeMs,
    checkpoint,
  }),
  shape<D<"card">>({
    t: exactly("card"),
    doc: requestSchema,
    policy: nullable(policySchema),
    header: nullable(base64urlUpTo(32_768)),
    previous: nullable(requestSchema),
  }),
  shape<D<"decided">>({
    t: exactly("decided"),
    request_hash: hash,
    status,
    by: nullable(text(64)),
    reason: nullable(text(64)),
  }),
  shape<D<"age_file">>({ t: exactly("age_file"), request_hash: hash, age_file: base64urlUpTo(98_304) }),
  shape<D<"policies">>({ t: exactly("policies"), policies: list(policySchema, 50) }),
  shape<D<"activity">>({
    t: exactly("activity"),
    from: whole(0, 1e9),
    leaves: list(base64urlUpTo(16_384), 500),
    checkpoint,
  }),
  shape<D<"entries">>({ t: exactly("entries"), from: whole(0, 1e9), records }),
  shape<D<"error">>(error),
  shape<D<"pair_ready">>({
    t: exactly("pair_ready"),
    daemon: id,
    daemon_name: text(64, 1),
    epoch: id,
    audit_key: base64urlOf(32),
    log_head: logHeadSchema,
    exclude: list(base64urlUpTo(1_023), 16),
    mode: word("register", "repair"),
  }),
  shape<D<"registered">>({
    t: exactly("registered"),
    device: id,
    words_key: base64urlOf(32),
    record: entryRecordSchema,
    checkpoint,
  }),
);

const phoneSchema: Schema<PhoneMessage> = oneOf<PhoneMessage>(
  shape<P<"hello">>({
    t: exactly("hello"),
    device: id,
    build: text(128),
    now_ms: timeMs,
    log_head: logHeadSchema,
    audit_head: logHeadSchema,
  }),
  shape<P<"sync">>({ t: exactly("sync"), log_size: whole(0, 1e9) }),
  shape<Extract<Decision, { decision: "deny" }>>({
    t: exactly("decision"),
    decision: exactly("deny"),
    request_hash: hash,
    mute_until_ms: nullable(timeMs),
  }),
  shape<Extract<Decision, { decision: "grant" }>>({
    t: exactly("decision"),
    decision: exactly("grant"),
    request_hash: hash,
    bundle: bundleSchema,
    assertion: assertionSchema,
    sealed_key: nullable(base64urlUpTo(8_192)),
    age_file: nullable(base64urlUpTo(98_304)),
    policy: nullable(policySchema),
    records,
  }),
  shape<P<"entries">>({ t: exactly("entries"), from: whole(0, 1e9), records }),
  shape<P<"mute">>({ t: exactly("mute"), agent: nullable(text(64, 1)), all: flag, until_ms: timeMs }),
  shape<P<"lock">>({ t: exactly("lock") }),
  shape<P<"change">>({ t: exactly("change"), secret_id: id, change: policyChangeSchema }),
  shape<P<"activity">>({ t: exactly("activity"), from: whole(0, 1e9) }),
  shape<P<"revoke">>({ t: exactly("revoke"), grant_id: id }),
  shape<P<"error">>(error),
  shape<P<"register">>({
    t: exactly("register"),
    client_data_json: base64urlUpTo(4_096),
    attestation_object: base64urlUpTo(8_192),
    credential_id: base64urlUpTo(1_023),
    record: entryRecordSchema,
  }),
);

/** The bytes of a message, before padding. */
export function encodeMessage(message: DaemonMessage | PhoneMessage): Bytes {
  return canonicalBytes(message);
}

/** Reads a message from the daemon. Throws `bad_request`. */
export function readDaemonMessage(plaintext: Uint8Array): DaemonMessage {
  return decode(daemonSchema, parseCanonical(plaintext), "message from the daemon");
}

/** Reads a message from the phone. Throws `bad_request`. */
export function readPhoneMessage(plaintext: Uint8Array): PhoneMessage {
  return decode(phoneSchema, parseCanonical(plaintext), "message from the phone");
}
