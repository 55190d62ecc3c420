import assert from "node:assert/strict";
import { approvalHash } from "./approval.ts";
import { toBase64url } from "./bytes.ts";
import {
  type Entry,
  type EntryBody,
  entryHash,
  type EntryRecord,
  genesisPrev,
  readEntryRecord,
} from "./policy_entry.ts";
import { anyHash, IDENTITIES, kindOf } from "./testdata/samples.ts";
import vectors from "./testdata/documents.json" with { type: "json" };

const genesis = () => structuredClone(vectors.genesis) as Entry;
const register = () => structuredClone(vectors.register) as Entry;
const device = () => structuredClone(vectors.genesis.body.device);
const id = "aaaaaaaaaaaaaaaaaaaaaaaaaa";
const record = (entry: unknown, signed?: unknown): unknown => ({
  entry,
  signed: signed ?? { kind: "recovery", signature: toBase64url(new Uint8Array(64)) },
});

const { type: _, ...secret } = register().body as Extract<EntryBody, { type: "secret_register" }>;
const BODIES: EntryBody[] = [
  genesis().body,
  { type: "device_add", device: device() },
  { type: "device_remove", device_id: id },
  { type: "secret_register", ...secret },
  { type: "policy_set", ...secret },
  { type: "secret_delete", secret_id: id },
  { type: "epoch_rotate", epoch: id, recipients: [{ device_id: id, recipient: IDENTITIES[0]!.recipient }] },
  { type: "recovery_use", device: device() },
  { type: "restore", old: anyHash(1), new: anyHash(2) },
];

Deno.test("entryHash() and genesisPrev() give the vectors", async () => {
  assert.equal(await genesisPrev(vectors.request.daemon), vectors.genesis.prev);
  assert.equal(await entryHash(genesis()), vectors.genesis_hash);
  assert.equal(await entryHash(register()), vectors.register_hash);
});

for (const body of BODIES) {
  Deno.test(`readEntryRecord() reads an entry of type ${body.type}, and refuses it with a member more or less`, async () => {
    const entry = { ...register(), body };
    assert.deepEqual(readEntryRecord(record(entry)), record(entry));
    const refused = async (spoiled: unknown, name: string) =>
      assert.equal(await kindOf(() => readEntryRecord(record(spoiled))), "bad_request", name);
    await refused({ ...entry, body: { ...body, forced: true } }, "a member more");
    await refused({ ...entry, note: 1 }, "a member more in the entry");
    for (const member of Object.keys(body)) {
      const { [member]: _, ...rest } = { ...body } as Record<string, unknown>;
      await refused({ ...entry, body: rest }, member);
    }
    for (const member of Object.keys(entry)) {
      const { [member]: _, ...rest } = { ...entry } as Record<string, unknown>;
      await refused(rest, member);
    }
  });

  Deno.test(`entryHash() of an entry of type ${body.type} changes with place, predecessor and body`, async () => {
    const entry = { ...register(), body };
    const other = BODIES[(BODIES.indexOf(body) + 1) % BODIES.length]!;
    const hashes = await Promise.all(
      [entry, { ...entry, seq: 7 }, { ...entry, prev: anyHash(7) }, { ...entry, body: other }].map(entryHash),
    );
    assert.equal(new Set(hashes).size, 4);
  });
}

const passkey = {
  kind: "passkey",
  bundle: structuredClone(vectors.bundle),
  assertion: {
    credential_id: "AAAA",
    client_data_json: "AAAA",
    authenticator_data: "AAAA",
    signature: "AAAA",
  },
};
const spoilt = (change: object) => ({ ...genesis(), body: { ...genesis().body, ...change } });
const badDevice = (change: object) => spoilt({ device: { ...device(), ...change } });

const REFUSED: [name: string, record: unknown][] = [
  ["an unknown type", record({ ...register(), body: { type: "approve_all" } })],
  ["a negative place", record({ ...register(), seq: -1 })],
  ["a place that is a fraction", record({ ...register(), seq: 1.5 })],
  ["a predecessor that is no hash", record({ ...register(), prev: "x" })],
  ["no predecessor", record({ ...register(), prev: null })],
  [
    "a classical recipient",
    record(badDevice({ recipient: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p" })),
  ],
  [
    "a classical recovery recipient",
    record(spoilt({ recovery: { recipient: "age1x", sign_public: anyHash(1) } })),
  ],
  ["a short audit key", record(spoilt({ audit_key: toBase64url(new Uint8Array(31)) }))],
  ["a device without a name", record(badDevice({ name: "" }))],
  ["a credential id that is padded", record(badDevice({ credential_id: "AA==" }))],
  ["no signature", { entry: register() }],
  ["an unknown kind of signature", record(register(), { kind: "none" })],
  [
    "a short recovery signature",
    record(register(), { kind: "recovery", signature: toBase64url(new Uint8Array(63)) }),
  ],
  ["a passkey signature without a bundle", record(register(), { ...passkey, bundle: undefined })],
  ["both signatures", record(register(), { ...passkey, signature: toBase64url(new Uint8Array(64)) })],
  [
    "an assertion with its PRF output",
    record(register(), { ...passkey, assertion: { ...passkey.assertion, prf: "AAAA" } }),
  ],
  ["nothing", null],
];

for (const [name, value] of REFUSED) {
  Deno.test(`readEntryRecord() refuses a record with ${name}`, async () => {
    assert.equal(await kindOf(() => readEntryRecord(value)), "bad_request");
  });
}

Deno.test("readEntryRecord() reads a passkey signature with its bundle", async () => {
  const read = readEntryRecord(record(register(), passkey)) as EntryRecord;
  assert.ok(read.signed.kind === "passkey");
  assert.equal(toBase64url(await approvalHash(read.signed.bundle)), vectors.approval_hash);
});
