import assert from "node:assert/strict";
import { AUDIT_EVENTS, type AuditLeaf, encodeLeaf, readLeaf, verifyLog } from "./audit.ts";
import { type Bytes, fromUtf8, toBase64url, utf8 } from "./bytes.ts";
import { logOrigin, signCheckpoint } from "./checkpoint.ts";
import { appendLeaf, EMPTY_TREE, leafHash, treeRoot } from "./merkle.ts";
import { errorOf, flipBit, hex, kindOf } from "./testdata/samples.ts";
import vectors from "./testdata/checkpoint.json" with { type: "json" };

const origin = logOrigin(vectors.daemon);
const publicKey = hex(vectors.public_key);
const jwk = { kty: "OKP", crv: "Ed25519", d: toBase64url(hex(vectors.seed)), x: toBase64url(publicKey) };
const key = await crypto.subtle.importKey("jwk", jwk, "Ed25519", false, ["sign"]);

const LEAVES: AuditLeaf[] = [
  { v: 1, time_ms: 1, event: "daemon_started" },
  {
    v: 1,
    time_ms: 2,
    event: "request_created",
    request_id: "a",
    agent: null,
    path: `/x\n{"event":"granted"}`,
  },
  { v: 1, time_ms: 3, event: "granted", request_id: "a", agent: "codex" },
  { v: 1, time_ms: 4, event: "send_started", request_id: "a", method: "POST", origin: "https://a.test" },
  { v: 1, time_ms: 5, event: "send_finished", request_id: "a", status: 200, bytes: 10, redactions: 1 },
];
const leaves = LEAVES.map(encodeLeaf);
const note = await checkpointOf(leaves);

async function checkpointOf(of: readonly Uint8Array[], signer = key): Promise<string> {
  let tree = EMPTY_TREE;
  for (const leaf of of) tree = await appendLeaf(tree, await leafHash(leaf));
  const sign = async (bytes: Bytes) => new Uint8Array(await crypto.subtle.sign("Ed25519", signer, bytes));
  return await signCheckpoint({ origin, size: tree.size, root: await treeRoot(tree) }, publicKey, sign);
}

Deno.test("verifyLog() accepts the log that was signed, the empty one too", async () => {
  assert.deepEqual(await verifyLog(leaves, note, origin, publicKey), { ok: true, size: 5 });
  assert.deepEqual(await verifyLog([], await checkpointOf([]), origin, publicKey), { ok: true, size: 0 });
});

const changed = encodeLeaf({ ...LEAVES[2]!, event: "denied" });
const torn = leaves[4]!.slice(0, -7);
const stranger = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]) as CryptoKeyPair;

const FOUND: [name: string, leaves: Uint8Array[], at: number | null, why: RegExp][] = [
  ["a cut tail", leaves.slice(0, 2), null, /5 entries were signed, and 2 are here/],
  ["everything gone", [], null, /5 entries were signed, and 0 are here/],
  ["a cut beginning", leaves.slice(1), null, /5 entries were signed/],
  ["a changed entry", leaves.with(2, changed), null, /not the ones that were signed/],
  ["two swapped entries", leaves.with(1, leaves[2]!).with(2, leaves[1]!), null, /not the ones/],
  ["one entry twice in another's place", leaves.with(3, leaves[2]!), null, /not the ones/],
  ["an added entry", [...leaves, changed], null, /5 entries were signed, and 6 are here/],
  ["an entry put between", leaves.toSpliced(1, 0, changed), null, /and 6 are here/],
  ["a torn last entry", leaves.with(4, torn), 4, /cannot be read/],
  ["an empty entry", leaves.with(0, new Uint8Array(0)), 0, /cannot be read/],
  ["an entry in another spelling", leaves.with(1, utf8(` ${fromUtf8(leaves[1]!)}`)), 1, /cannot be read/],
  [
    "an entry of an unknown event",
    leaves.with(1, utf8(`{"event":"approved","time_ms":2,"v":1}`)),
    1,
    /cannot/,
  ],
];

for (const [name, of, at, why] of FOUND) {
  Deno.test(`verifyLog() finds ${name} (B162)`, async () => {
    const verdict = await verifyLog(of, note, origin, publicKey);
    assert.ok(!verdict.ok);
    assert.equal(verdict.at, at);
    assert.match(verdict.why, why);
  });
}

Deno.test("verifyLog() refuses a checkpoint that is forged, or of another log or key (B162)", async () => {
  const strangerKey = new Uint8Array(await crypto.subtle.exportKey("raw", stranger.publicKey));
  const rows: [string, string, string, Uint8Array][] = [
    [
      "a forged checkpoint over a cut log",
      await checkpointOf(leaves, stranger.privateKey),
      origin,
      publicKey,
    ],
    ["a changed checkpoint", note.replace("\n5\n", "\n4\n"), origin, publicKey],
    ["another origin", note, logOrigin("aaaaaaaaaaaaaaaaaaaaaaaaaa"), publicKey],
    ["another key", note, origin, strangerKey],
    ["no checkpoint", "", origin, publicKey],
  ];
  for (const [name, checkpoint, of, by] of rows) {
    const verdict = await verifyLog(leaves, checkpoint, of, by);
    assert.ok(!verdict.ok && /not signed by this daemon's key/.test(verdict.why), name);
  }
});

Deno.test("verifyLog() finds any one bit flipped in any entry", async () => {
  for (const [index, leaf] of leaves.entries()) {
    for (let bit = 0; bit < leaf.length * 8; bit += 37) {
      const verdict = await verifyLog(leaves.with(index, flipBit(leaf, bit)), note, origin, publicKey);
      assert.equal(verdict.ok, false, `entry ${index}, bit ${bit}`);
    }
  }
});

Deno.test("encodeLeaf() makes one leaf of a text that imitates another (B162)", () => {
  const leaf = leaves[1]!;
  assert.ok(!leaf.includes(0x0a));
  assert.deepEqual(readLeaf(leaf), LEAVES[1]);
});

Deno.test("readLeaf() reads each event and refuses what is not a leaf", async () => {
  for (const event of AUDIT_EVENTS) {
    assert.equal(readLeaf(encodeLeaf({ v: 1, time_ms: 0, event })).event, event);
  }
  const base: AuditLeaf = { v: 1, time_ms: 0, event: "granted" };
  const rows: [string, object][] = [
    ["an unknown event", { event: "approved" }],
    ["another version", { v: 2 }],
    ["a fraction of a millisecond", { time_ms: 0.5 }],
    ["an unknown member", { body: "x" }],
    ["a status beyond three digits", { status: 1000 }],
    ["an id too long", { request_id: "a".repeat(129) }],
    ["a path too long", { path: "/".repeat(8_193) }],
  ];
  for (const [name, change] of rows) {
    const bytes = encodeLeaf({ ...base, ...change } as AuditLeaf);
    assert.equal(await kindOf(() => readLeaf(bytes)), "bad_request", name);
  }
  const error = await errorOf(() => readLeaf(utf8("{}")));
  assert.match(error.message, /audit entry/);
});
