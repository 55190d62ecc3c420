import assert from "node:assert/strict";
import { approvalHash, type Bundle, readBundle, readFileKey, replyToHash, sealFileKey } from "./approval.ts";
import { fromBase64url, toBase64url } from "./bytes.ts";
import { canonicalBytes } from "./canonical.ts";
import { openWithIdentity } from "./custody.ts";
import { anyHash, flipBit, IDENTITIES, kindOf } from "./testdata/samples.ts";
import vectors from "./testdata/documents.json" with { type: "json" };

const bundle = (): Bundle => structuredClone(vectors.bundle) as Bundle;
const hashOf = async (of: Bundle) => toBase64url(await approvalHash(of));
const approval = fromBase64url(vectors.approval_hash)!;
const header = vectors.header_hash;
const [daemon, stranger] = [IDENTITIES[0]!, IDENTITIES[1]!];
const fileKey = Uint8Array.from({ length: 16 }, (_, i) => i);

Deno.test("approvalHash() gives the vector", async () => {
  assert.equal(await hashOf(readBundle(vectors.bundle)), vectors.approval_hash);
});

Deno.test("replyToHash() gives the vector", async () => {
  assert.equal(await replyToHash(daemon.recipient), vectors.reply_to_hash);
  assert.notEqual(await replyToHash(stranger.recipient), vectors.reply_to_hash);
});

Deno.test("approvalHash() changes with each member of the bundle, the grant's members too", async () => {
  const base = bundle();
  const grant = base.grant!;
  const changes: Partial<Bundle>[] = [
    { daemon: "aaaaaaaaaaaaaaaaaaaaaaaaaa" },
    { device: "aaaaaaaaaaaaaaaaaaaaaaaaaa" },
    { request_hash: anyHash(1) },
    { policy_hash: anyHash(1) },
    { policy_hash: undefined },
    { header_sha256: anyHash(1) },
    { header_sha256: undefined },
    { reply_to_sha256: anyHash(1) },
    { reply_to_sha256: null },
    { entries: [anyHash(1)] },
    { entries: [anyHash(1), anyHash(2)] },
    { entries: [anyHash(2), anyHash(1)] },
    { log_head: { ...base.log_head, size: 3 } },
    { log_head: { ...base.log_head, head: null } },
    { audit_head: { ...base.audit_head, size: 3 } },
    { audit_head: { ...base.audit_head, head: null } },
    { issued_ms: 1 },
    { grant: undefined },
    { grant: { ...grant, grant_id: "aaaaaaaaaaaaaaaaaaaaaaaaaa" } },
    { grant: { ...grant, request_hash: anyHash(1) } },
    { grant: { ...grant, secret_id: "aaaaaaaaaaaaaaaaaaaaaaaaaa" } },
    { grant: { ...grant, policy_hash: anyHash(1) } },
    { grant: { ...grant, agent: null } },
    { grant: { ...grant, seconds: 601 } },
    { grant: { ...grant, max_uses: 2 } },
    { grant: { ...grant, scope: { ...grant.scope, origins: ["https://evil.test"] } } },
    { grant: { ...grant, scope: { ...grant.scope, methods: ["GET"] } } },
    { grant: { ...grant, scope: { ...grant.scope, path: "/" } } },
    { grant: { ...grant, scope: { ...grant.scope, content_sha256: undefined } } },
  ];
  const hashes = await Promise.all(changes.map((change) => hashOf({ ...bundle(), ...change })));
  assert.equal(new Set([await hashOf(base), ...hashes]).size, changes.length + 1);
});

const REFUSED: [name: string, change: object][] = [
  ["an unknown member", { widen: true }],
  ["an unknown member in a log head", { log_head: { ...bundle().log_head, fork: 1 } }],
  ["an unknown member in its grant", { grant: { ...bundle().grant, forever: true } }],
  ["a denial", { decision: "deny" }],
  ["no decision", { decision: undefined }],
  ["another version", { v: 2 }],
  ["a request hash that is short", { request_hash: anyHash(1).slice(1) }],
  ["a padded request hash", { request_hash: `${anyHash(1)}=` }],
  ["no request hash", { request_hash: undefined }],
  ["no reply recipient member", { reply_to_sha256: undefined }],
  ["a null policy hash", { policy_hash: null }],
  ["a null grant", { grant: null }],
  ["101 entries", { entries: Array(101).fill(anyHash(1)) }],
  ["an entry that is no hash", { entries: ["x"] }],
  ["no entries member", { entries: undefined }],
  ["no log head", { log_head: undefined }],
  ["a negative log size", { log_head: { size: -1, head: null } }],
  ["no audit head", { audit_head: null }],
  ["a time that is text", { issued_ms: "now" }],
];

for (const [name, change] of REFUSED) {
  Deno.test(`readBundle() refuses a bundle with ${name}`, async () => {
    assert.equal(await kindOf(() => readBundle({ ...bundle(), ...change })), "bad_request");
  });
}

Deno.test("readBundle() reads a bundle without grant, policy and header", () => {
  const { grant: _, policy_hash: __, header_sha256: ___, ...rest } = bundle();
  assert.deepEqual(readBundle(rest), rest);
});

Deno.test("readFileKey() reads what sealFileKey() sealed, and only for that approval and header", async () => {
  const sealed = fromBase64url(await sealFileKey(daemon.recipient, approval, header, fileKey))!;
  const plaintext = await openWithIdentity(daemon.identity, sealed);
  assert.deepEqual(readFileKey(plaintext, approval, header), fileKey);
  assert.equal(await kindOf(() => readFileKey(plaintext, flipBit(approval, 0), header)), "bad_request");
  assert.equal(await kindOf(() => readFileKey(plaintext, approval, anyHash(1))), "bad_request");
  assert.equal(await kindOf(() => openWithIdentity(stranger.identity, sealed)), "bad_request");
});

Deno.test("sealFileKey() refuses a recipient that is not hybrid", async () => {
  for (
    const recipient of ["", daemon.identity, "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"]
  ) {
    assert.equal(await kindOf(() => sealFileKey(recipient, approval, header, fileKey)), "bad_request");
  }
});

Deno.test("readFileKey() refuses a plaintext that is not exactly one key", async () => {
  const good = {
    approval_hash: vectors.approval_hash,
    header_sha256: header,
    file_key: toBase64url(fileKey),
  };
  assert.deepEqual(readFileKey(canonicalBytes(good), approval, header), fileKey);
  const rows: [string, object][] = [
    ["a short key", { file_key: toBase64url(fileKey.slice(1)) }],
    ["a long key", { file_key: toBase64url(new Uint8Array(32)) }],
    ["a padded key", { file_key: `${good.file_key}==` }],
    ["a member more", { note: "x" }],
    ["no key", { file_key: undefined }],
    ["no approval", { approval_hash: undefined }],
  ];
  for (const [name, change] of rows) {
    const plaintext = canonicalBytes({ ...good, ...change });
    assert.equal(await kindOf(() => readFileKey(plaintext, approval, header)), "bad_request", name);
  }
});
