import assert from "node:assert/strict";
import { type AuditLeaf, encodeLeaf } from "@custos/core/audit";
import { type Bytes, randomBytes, toBase64url } from "@custos/core/bytes";
import { appendLeaf, EMPTY_TREE, leafHash, treeRoot } from "@custos/core/merkle";
import type { DaemonMessage } from "@custos/core/messages";
import { type PhoneRecord, takeActivity, takeCheckpoint, takePolicies } from "@custos/pwa";
import { holdSecret } from "./scripted_cards.ts";
import type { ScriptedDaemon } from "./scripted_daemon.ts";
import { type Ends, knowSecret, withPair } from "./scripted_pair.ts";

type Message = Extract<DaemonMessage, { t: "activity" }>;

/** A record whose witness has seen nothing yet, so that a test can begin at the first entry. */
async function fresh({ phone }: Ends): Promise<PhoneRecord<string>> {
  return { ...await phone.record(), audit_head: { size: 0, head: null }, audit_floor: 0 };
}

function leaf(n: number): Bytes {
  const entry: AuditLeaf = { v: 1, time_ms: 1_000 + n, event: "granted", handle: `custos:n${n}` };
  return encodeLeaf(entry);
}

const LEAVES = Array.from({ length: 7 }, (_, n) => leaf(n));

/** A message with the entries from `from` to `to`, signed for the first `size` of `all`. */
async function messageOf(
  daemon: ScriptedDaemon,
  [from, to]: [number, number],
  size: number,
  all: readonly Bytes[] = LEAVES,
): Promise<Message> {
  let tree = EMPTY_TREE;
  for (const one of all.slice(0, size)) tree = await appendLeaf(tree, await leafHash(one));
  daemon.audit = { size, root: await treeRoot(tree) };
  const leaves = all.slice(from, to).map(toBase64url);
  return { t: "activity", from, leaves, checkpoint: await daemon.checkpoint() };
}

Deno.test("takeActivity() counts entries as checked when the tree has the signed root", async () => {
  await withPair(async (ends) => {
    const { daemon } = ends;
    let record = await fresh(ends);
    const rows: [name: string, message: Message, size: number, checked: number][] = [
      ["the first three of seven", await messageOf(daemon, [0, 3], 7), 3, 0],
      ["the same again", await messageOf(daemon, [0, 3], 7), 3, 0],
      ["the rest, and one that is known", await messageOf(daemon, [2, 7], 7), 7, 7],
      ["nothing new", await messageOf(daemon, [7, 7], 7), 7, 7],
    ];
    for (const [name, message, size, checked] of rows) {
      const taken = await takeActivity(record, message);
      assert.ok(typeof taken === "object", name);
      record = taken.record;
      assert.deepEqual([record.activity.tree.size, record.activity.checked], [size, checked], name);
    }
    assert.deepEqual(record.activity.leaves.map(({ index }) => index), [0, 1, 2, 3, 4, 5, 6]);
    assert.equal(record.activity.leaves[6]?.leaf?.handle, "custos:n6");
  });
});

Deno.test("takeActivity() refuses a history that is not the one that was signed", async () => {
  await withPair(async (ends) => {
    const { daemon } = ends;
    const signed = await messageOf(daemon, [0, 7], 7);
    const other = { ...signed, leaves: signed.leaves.with(2, toBase64url(leaf(99))) };
    const swapped = {
      ...signed,
      leaves: [...signed.leaves.slice(1, 2), signed.leaves[0]!, ...signed.leaves.slice(2)],
    };
    const rows: [string, Message, string][] = [
      ["a changed entry", other, "audit_log_forked"],
      ["two that changed places", swapped, "audit_log_forked"],
      ["entries after a gap", { ...signed, from: 1 }, "gap"],
      [
        "a checkpoint of nobody",
        { ...signed, checkpoint: signed.checkpoint.replace(/\n7\n/, "\n8\n") },
        "unsigned",
      ],
    ];
    for (const [name, message, why] of rows) {
      assert.equal(await takeActivity(await fresh(ends), message), why, name);
    }
  });
});

Deno.test("takeActivity() takes nothing beyond what was signed, and keeps what it cannot read", async () => {
  await withPair(async (ends) => {
    const unknown = new TextEncoder().encode('{"event":"from_a_later_version","time_ms":1,"v":1}');
    const all = [LEAVES[0]!, unknown, LEAVES[2]!];
    const message = await messageOf(ends.daemon, [0, 3], 2, all);
    const taken = await takeActivity(await fresh(ends), message);
    assert.ok(typeof taken === "object");
    assert.deepEqual(taken.record.activity.leaves.map(({ leaf }) => leaf === null), [false, true]);
    assert.equal(taken.record.activity.checked, 2);
  });
});

Deno.test("takeActivity() holds the entries against a root that this phone witnessed before", async () => {
  await withPair(async (ends) => {
    const { daemon } = ends;
    const honest = await messageOf(daemon, [0, 4], 4);
    const seen = await takeCheckpoint(await fresh(ends), honest.checkpoint);
    assert.ok(typeof seen === "object");
    const rewritten = [leaf(50), ...LEAVES.slice(1)];
    const later = await messageOf(daemon, [0, 7], 7, rewritten);
    assert.equal(await takeActivity(seen.record, later), "audit_log_forked");
  });
});

Deno.test("takeCheckpoint() finds a checkpoint that the phone's own tree contradicts", async () => {
  await withPair(async (ends) => {
    const { daemon } = ends;
    const taken = await takeActivity(await fresh(ends), await messageOf(daemon, [0, 5], 7));
    assert.ok(typeof taken === "object");
    daemon.audit = { size: 5, root: randomBytes(32) };
    assert.equal(await takeCheckpoint(taken.record, await daemon.checkpoint()), "audit_log_forked");
    const { checkpoint } = await messageOf(daemon, [0, 0], 5);
    const good = await takeCheckpoint(taken.record, checkpoint);
    assert.equal(typeof good === "object" ? good.record.activity.checked : good, 5);
  });
});

Deno.test("activity in the channel is asked for, stored, and alarms when it is forged", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    await phone.store.update(phone.daemon, async () => [await fresh(ends), undefined] as const);
    await phone.say({ t: "activity", from: 0 });
    assert.equal((await daemon.expect("activity")).from, 0);
    await daemon.send(await messageOf(daemon, [0, 4], 4));
    assert.ok(await phone.when(async () => (await phone.record()).activity.checked === 4 || null, 5_000));
    const forged = await messageOf(daemon, [4, 7], 7);
    await daemon.send({ ...forged, leaves: forged.leaves.with(0, toBase64url(leaf(77))) });
    assert.equal(await phone.when(async () => (await phone.record()).alarm, 5_000), "audit_log_forked");
  });
});

Deno.test("takePolicies() keeps only what hashes to the log's word", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const one = await holdSecret(daemon, { name: "one" });
    const two = await holdSecret(daemon, { name: "two" });
    await knowSecret(ends, one);
    await knowSecret(ends, two);
    const record = await phone.record();
    const widened = { ...two.policy, origins: ["https://evil.test"] };
    const rows: [string, Parameters<typeof takePolicies>[1], string[]][] = [
      ["both", [two.policy, one.policy], ["one", "two"]],
      ["one that was widened", [one.policy, widened], ["one"]],
      ["one of no known secret", [{ ...one.policy, secret_id: daemon.epoch }], []],
    ];
    for (const [name, policies, kept] of rows) {
      assert.deepEqual(
        (await takePolicies(record, policies)).policies.map((policy) => policy.name),
        kept,
        name,
      );
    }
    await daemon.send({ t: "policies", policies: [widened, one.policy] });
    const names = async () => (await phone.record()).policies.map((policy) => policy.name);
    assert.ok(await phone.when(async () => (await names()).length > 0 || null, 5_000));
    assert.deepEqual(await names(), ["one"]);
  });
});

Deno.test("a refusal about no card is kept for the person to read", async () => {
  await withPair(async ({ daemon, phone }) => {
    await daemon.send({ t: "error", code: "cooling_down", about: null, message: "not now" });
    const trouble = await phone.when(async () => (await phone.record()).trouble, 5_000);
    assert.deepEqual([trouble?.code, trouble?.message], ["cooling_down", "not now"]);
  });
});
