import assert from "node:assert/strict";
import { fromUtf8, toBase64url, utf8 } from "./bytes.ts";
import { canonicalBytes } from "./canonical.ts";
import { sealSecret, VALUE_BYTES } from "./custody.ts";
import { MAX_PLAINTEXT_BYTES } from "./frame.ts";
import {
  type DaemonMessage,
  type Decision,
  encodeMessage,
  type PhoneMessage,
  readDaemonMessage,
  readPhoneMessage,
  REQUEST_STATUSES,
} from "./messages.ts";
import type { EntryRecord } from "./policy_entry.ts";
import {
  anyHash,
  errorOf,
  IDENTITIES,
  kindOf,
  sampleGrant,
  samplePolicy,
  sampleRequest,
} from "./testdata/samples.ts";
import documents from "./testdata/documents.json" with { type: "json" };

const id = "aaaaaaaaaaaaaaaaaaaaaaaaaa";
const log_head = { size: 1, head: anyHash(1) };
const record: EntryRecord = {
  entry: structuredClone(documents.register) as EntryRecord["entry"],
  signed: { kind: "recovery", signature: toBase64url(new Uint8Array(64)) },
};
const assertion = {
  credential_id: "AAAA",
  client_data_json: "AAAA",
  authenticator_data: "AAAA",
  signature: "AAAA",
};
const error = { t: "error", code: "bad_request", about: anyHash(1), message: "no" } as const;
const entries = { t: "entries", from: 0, records: [record] } as const;

// one sample of each type: the compiler asks for one where a type is added
const FROM_DAEMON: { [T in DaemonMessage["t"]]: Extract<DaemonMessage, { t: T }> } = {
  hello: {
    t: "hello",
    daemon: id,
    daemon_name: "laptop",
    version: "1",
    now_ms: 1,
    log_head,
    checkpoint: "note",
  },
  sync: {
    t: "sync",
    pending: [anyHash(1)],
    grants: [{ grant: sampleGrant(), name: "github", uses_left: 1, expires_ms: 1 }],
    now_ms: 1,
    checkpoint: "note",
  },
  card: {
    t: "card",
    doc: sampleRequest("http"),
    policy: samplePolicy(),
    header: "AAAA",
    previous: sampleRequest("http"),
  },
  age_file: { t: "age_file", request_hash: anyHash(1), age_file: "AAAA" },
  decided: { t: "decided", request_hash: anyHash(1), status: "granted", by: "phone", reason: null },
  policies: { t: "policies", policies: [samplePolicy()] },
  activity: { t: "activity", from: 0, leaves: ["AAAA"], checkpoint: "note" },
  entries: { ...entries, records: [record] },
  error,
  pair_ready: {
    t: "pair_ready",
    daemon: id,
    daemon_name: "laptop",
    epoch: id,
    audit_key: anyHash(1),
    log_head: { size: 0, head: null },
    exclude: ["AAAA"],
    mode: "register",
  },
  registered: { t: "registered", device: id, words_key: anyHash(1), record, checkpoint: "note" },
};

const grant: Extract<Decision, { decision: "grant" }> = {
  t: "decision",
  decision: "grant",
  request_hash: anyHash(1),
  bundle: structuredClone(documents.bundle) as Extract<Decision, { decision: "grant" }>["bundle"],
  assertion,
  sealed_key: "AAAA",
  age_file: null,
  policy: samplePolicy(),
  records: [record],
};

const FROM_PHONE: { [T in PhoneMessage["t"]]: Extract<PhoneMessage, { t: T }> } = {
  hello: { t: "hello", device: id, build: "1", now_ms: 1, log_head, audit_head: log_head },
  sync: { t: "sync", log_size: 0 },
  decision: grant,
  entries: { ...entries, records: [record] },
  mute: { t: "mute", agent: null, all: true, until_ms: 1 },
  lock: { t: "lock" },
  change: { t: "change", secret_id: id, change: { kind: "set", policy: samplePolicy() } },
  activity: { t: "activity", from: 0 },
  revoke: { t: "revoke", grant_id: id },
  error,
  register: {
    t: "register",
    client_data_json: "AAAA",
    attestation_object: "AAAA",
    credential_id: "AAAA",
    record,
  },
};

const deny: Decision = { t: "decision", decision: "deny", request_hash: anyHash(1), mute_until_ms: null };

type Side = [
  name: string,
  read: (bytes: Uint8Array) => DaemonMessage | PhoneMessage,
  messages: readonly (DaemonMessage | PhoneMessage)[],
  foreign: readonly (DaemonMessage | PhoneMessage)[],
];
const SIDES: Side[] = [
  ["readDaemonMessage()", readDaemonMessage, Object.values(FROM_DAEMON), Object.values(FROM_PHONE)],
  ["readPhoneMessage()", readPhoneMessage, [...Object.values(FROM_PHONE), deny], Object.values(FROM_DAEMON)],
];

for (const [name, read, messages, foreign] of SIDES) {
  const refused = async (value: unknown, what: string) =>
    assert.equal(await kindOf(() => read(canonicalBytes(value))), "bad_request", what);

  for (const message of messages) {
    Deno.test(`${name} reads "${message.t}", and refuses it with a member more, less or spoiled`, async () => {
      assert.deepEqual(read(encodeMessage(message)), message);
      await refused({ ...message, force: true }, "a member more");
      for (const member of Object.keys(message)) {
        await refused({ ...message, [member]: undefined }, `no ${member}`);
        await refused({ ...message, [member]: { odd: 1 } }, `a spoiled ${member}`);
      }
    });
  }

  Deno.test(`${name} refuses unknown types and what is not a message`, async () => {
    for (
      const value of [{ t: "approve" }, { t: "" }, { t: 1 }, { t: "__proto__" }, {}, [], null, "lock", [{
        t: "lock",
      }]]
    ) {
      await refused(value, JSON.stringify(value));
    }
    for (const bytes of [utf8(""), utf8(" "), utf8(`{"t":"lock" }`), Uint8Array.of(0xff)]) {
      assert.equal(await kindOf(() => read(bytes)), "bad_request");
    }
  });

  Deno.test(`${name} refuses the messages of its own side`, async () => {
    const own = new Set(messages.map(({ t }) => t));
    const shared = new Set(["entries", "error"]);
    for (const message of foreign) {
      if (shared.has(message.t)) continue;
      await refused(message, message.t);
    }
    assert.ok(own.has("hello") && own.has("sync"));
  });

  Deno.test(`${name} names no value in its refusal`, async () => {
    const error = await errorOf(() => read(canonicalBytes({ t: "hunter2", words_key: "hunter2" })));
    assert.ok(!error.message.includes("hunter2"));
  });
}

Deno.test("readPhoneMessage() refuses a decision that mixes granting and denying", async () => {
  const { bundle: _, ...withoutBundle } = grant;
  const rows: unknown[] = [
    { ...deny, decision: "grant" },
    { ...deny, bundle: grant.bundle },
    { ...grant, decision: "deny" },
    { ...grant, mute_until_ms: null },
    withoutBundle,
    { ...grant, bundle: null },
    { ...grant, assertion: { ...assertion, prf: { first: "AAAA", second: "AAAA" } } },
    { ...grant, assertion: { ...assertion, client_extension_results: {} } },
    { ...grant, records: Array(101).fill(record) },
    { ...deny, decision: "maybe" },
  ];
  for (const value of rows) {
    assert.equal(await kindOf(() => readPhoneMessage(canonicalBytes(value))), "bad_request");
  }
});

Deno.test("readDaemonMessage() reads each status and refuses others", async () => {
  for (const status of REQUEST_STATUSES) {
    assert.deepEqual(readDaemonMessage(encodeMessage({ ...FROM_DAEMON.decided, status })), {
      ...FROM_DAEMON.decided,
      status,
    });
  }
  for (const status of ["approved", "", "Granted"]) {
    const bytes = canonicalBytes({ ...FROM_DAEMON.decided, status });
    assert.equal(await kindOf(() => readDaemonMessage(bytes)), "bad_request", status);
  }
});

Deno.test("readDaemonMessage() refuses lists beyond their limits", async () => {
  const rows: unknown[] = [
    { ...FROM_DAEMON.sync, pending: Array(65).fill(anyHash(1)) },
    { ...FROM_DAEMON.sync, grants: Array(201).fill(FROM_DAEMON.sync.grants[0]) },
    { ...FROM_DAEMON.pair_ready, exclude: Array(17).fill("AAAA") },
    { ...FROM_DAEMON.entries, records: Array(101).fill(record) },
    { ...FROM_DAEMON.card, doc: { ...sampleRequest("http"), reply_to: "age1x" } },
    { ...FROM_DAEMON.card, header: toBase64url(new Uint8Array(32_769)) },
  ];
  for (const value of rows) {
    assert.equal(await kindOf(() => readDaemonMessage(canonicalBytes(value))), "bad_request");
  }
});

Deno.test("encodeMessage() makes one message that fits a frame of a 64 KiB secret, new to one phone and the sheet", async () => {
  const recipients = IDENTITIES.slice(0, 2).map(({ recipient }) => recipient);
  const file = await sealSecret(recipients, samplePolicy(), new Uint8Array(VALUE_BYTES.max).fill(65));
  const field = toBase64url(new Uint8Array(500)); // more than a platform passkey sends
  const signature = {
    credential_id: field,
    client_data_json: field,
    authenticator_data: field,
    signature: field,
  };
  const signed = { kind: "passkey", bundle: grant.bundle, assertion: signature } as const;
  const message = {
    ...grant,
    assertion: signature,
    age_file: toBase64url(file),
    records: [{ ...record, signed }],
  };
  assert.ok(encodeMessage(message).length <= MAX_PLAINTEXT_BYTES);
});

Deno.test("encodeMessage() gives canonical bytes, and an ordinary card and grant fit 16 KiB", () => {
  const card = encodeMessage(FROM_DAEMON.card);
  assert.deepEqual(JSON.parse(fromUtf8(card)), FROM_DAEMON.card);
  assert.ok(card.length < 16_380 && encodeMessage(grant).length < 16_380);
});
