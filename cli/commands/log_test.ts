import assert from "node:assert/strict";
import { type AuditLeaf, encodeLeaf } from "@custos/core/audit";
import { toBase64url } from "@custos/core/bytes";
import { logOrigin, signCheckpoint, verifierKey } from "@custos/core/checkpoint";
import { newId } from "@custos/core/ids";
import { appendLeaf, EMPTY_TREE, leafHash, treeRoot } from "@custos/core/merkle";
import type { LogReadResult } from "@custos/rpc/log_schemas";
import { fakeDaemon } from "../testing/fake_daemon.ts";
import { custos } from "../testing/fake_io.ts";

const origin = logOrigin(newId());
const keys = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]) as CryptoKeyPair;
const publicKey = new Uint8Array(await crypto.subtle.exportKey("raw", keys.publicKey));
const key = await verifierKey(origin, publicKey);

function leafAt(index: number): AuditLeaf {
  const about = { request_id: newId(), fingerprint: "rocket velvet oasis", handle: "custos:demo-key" };
  if (index === 0) return { v: 1, time_ms: 1_000, event: "daemon_started" };
  return {
    v: 1,
    time_ms: 1_000 * index,
    event: "request_created",
    ...about,
    agent: "claude\u001b[2J\nHost: bank",
    method: "POST",
    origin: "https://api.example.test",
    path: "/v1/x",
  };
}

/** A log of this many entries, read in pages of at most `page`. */
async function log(
  size: number,
  page = 1_000,
): Promise<{ leaves: Uint8Array[]; read: typeof read; checkpoint: string }> {
  const leaves = Array.from({ length: size }, (_, index) => encodeLeaf(leafAt(index)));
  let tree = EMPTY_TREE;
  for (const leaf of leaves) tree = await appendLeaf(tree, await leafHash(leaf));
  const sign = async (bytes: Uint8Array<ArrayBuffer>) =>
    new Uint8Array(await crypto.subtle.sign("Ed25519", keys.privateKey, bytes));
  const checkpoint = await signCheckpoint({ origin, size, root: await treeRoot(tree) }, publicKey, sign);
  const read = ({ after = 0, limit = 1_000 }: { after?: number; limit?: number }): Promise<LogReadResult> =>
    Promise.resolve({
      entries: leaves.slice(after, after + Math.min(limit, page)).map((leaf, at) => ({
        index: after + at,
        leaf: toBase64url(leaf),
      })),
      size: leaves.length,
      checkpoint,
      key,
    });
  return { leaves, read, checkpoint };
}

Deno.test("custos log shows the last entries as sentences, safe to show (B106)", async () => {
  const { read } = await log(30);
  await using daemon = await fakeDaemon({ "log.read": read });
  const ran = await custos(daemon.socket, ["log", "--limit", "2"]);
  assert.equal(ran.code, 0);
  const lines = ran.out.split("\n");
  assert.match(lines[0]!, /#28 {2}"claude\\u\{1b\}\[2J\\u\{a\}Host: bank" asked {2}\(rocket velvet oasis\)$/);
  assert.equal(lines[1], "    POST https://api.example.test/v1/x with custos:demo-key");
  assert.match(lines[2]!, /#29 /);
  assert.match(
    (await custos(daemon.socket, ["log", "--after", "0", "--limit", "1"])).out,
    /#0 {2}the daemon started\n$/,
  );
  const json = JSON.parse((await custos(daemon.socket, ["log", "--json"])).out);
  assert.deepEqual([json.size, json.entries.length, json.entries[0].index, json.entries[19].event], [
    30,
    20,
    10,
    "request_created",
  ]);
});

Deno.test("custos log verify accepts a log that was signed, in one page or many, and an empty one", async () => {
  for (const [size, page] of [[0, 10], [1, 10], [25, 7], [25, 1_000]] as const) {
    const { read } = await log(size, page);
    await using daemon = await fakeDaemon({ "log.read": read });
    const ran = await custos(daemon.socket, ["log", "verify"]);
    assert.equal(ran.code, 0, ran.err);
    assert.match(ran.out, new RegExp(`The log stands: ${size} entr`));
    assert.deepEqual(JSON.parse((await custos(daemon.socket, ["log", "verify", "--json"])).out), {
      ok: true,
      size,
      key,
    });
  }
});

Deno.test("custos log verify finds what was changed, lost, swapped, cut or signed by another", async () => {
  const good = await log(9);
  const wrongKey = await verifierKey(origin, new Uint8Array(32).fill(7));
  const other = (await log(9)).checkpoint;
  const rows: [string, (result: LogReadResult) => LogReadResult][] = [
    [
      "changed",
      (r) => ({ ...r, entries: r.entries.with(3, { index: 3, leaf: toBase64url(encodeLeaf(leafAt(8))) }) }),
    ],
    [
      "swapped",
      (r) => ({
        ...r,
        entries: r.entries.with(3, { ...r.entries[4]!, index: 3 }).with(4, { ...r.entries[3]!, index: 4 }),
      }),
    ],
    ["numbered wrong", (r) => ({ ...r, entries: r.entries.toReversed() })],
    [
      "not canonical",
      (r) => ({
        ...r,
        entries: r.entries.with(3, { index: 3, leaf: toBase64url(new TextEncoder().encode("{ }")) }),
      }),
    ],
    ["cut", (r) => ({ ...r, entries: r.entries.slice(0, 8), size: 8 })],
    ["withheld", (r) => ({ ...r, entries: [] })],
    ["another checkpoint", (r) => ({ ...r, checkpoint: other })],
    ["another key", (r) => ({ ...r, key: wrongKey })],
    ["no key", (r) => ({ ...r, key: "" })],
    ["no checkpoint", (r) => ({ ...r, checkpoint: "" })],
  ];
  for (const [what, broken] of rows) {
    await using daemon = await fakeDaemon({ "log.read": async (params) => broken(await good.read(params)) });
    const ran = await custos(daemon.socket, ["log", "verify"]);
    assert.equal(ran.code, 5, what);
    assert.match(ran.err, /The log does not stand/, what);
    assert.equal(ran.out, "");
    assert.equal((await custos(daemon.socket, ["log", "verify", "--json"])).code, 5, what);
  }
});
