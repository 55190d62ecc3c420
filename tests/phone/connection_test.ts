import assert from "node:assert/strict";
import { randomBytes, toBase64url } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import { FATIGUE } from "@custos/core/fatigue";
import type { StoredCard } from "@custos/pwa";
import { dropCard } from "./scripted_cards.ts";
import { deliver, type Ends, withPair } from "./scripted_pair.ts";

/** Waits for the phone's record to be so. */
async function until(
  { phone }: Ends,
  is: (record: Awaited<ReturnType<Ends["phone"]["record"]>>) => boolean,
): Promise<void> {
  assert.ok(
    await phone.when(async () => is(await phone.record()) || null, 5_000),
    "the phone did not get there",
  );
}

/** Waits until the phone has answered the daemon's offer, and begins to talk in the new session. */
async function greeted(ends: Ends): Promise<void> {
  while (ends.daemon.run?.session === null) await ends.daemon.take(1_000);
  await ends.daemon.hello();
  await ends.daemon.expect("sync");
}

const statuses = (cards: StoredCard[]) => cards.map((card) => card.status);

Deno.test("a frame that comes again changes nothing", async () => {
  await withPair(async (ends) => {
    const { daemon, phone, relay } = ends;
    await daemon.expect("sync");
    await deliver(ends, await dropCard(daemon));
    const frames = relay.passed.filter((one) => one.mailbox === daemon.boxes!.to_phone.id);
    const before = await phone.record();
    for (const { mailbox, data } of [...frames].reverse()) relay.post(mailbox, data);
    await until(ends, (record) => record.read_after >= before.read_after + frames.length);
    const { read_after: _a, outbox: _b, ...after } = await phone.record();
    const { read_after: _c, outbox: _d, ...expected } = before;
    assert.deepEqual(after, expected);
  });
});

Deno.test("frames that nobody sealed change nothing", async () => {
  await withPair(async (ends) => {
    const { daemon, phone, relay } = ends;
    await daemon.expect("sync");
    const { id } = daemon.boxes!.to_phone;
    const good = relay.passed.find((one) => one.mailbox === id)!.data;
    const before = await phone.record();
    const flipped = Uint8Array.from(good);
    flipped[60]! ^= 1;
    const rows = [randomBytes(1), randomBytes(300), good.slice(0, 50), flipped];
    let last = 0;
    for (const data of rows) last = relay.post(id, data);
    await until(ends, (record) => record.read_after === last);
    assert.deepEqual((await phone.record()).channel, before.channel);
  });
});

Deno.test("a new run of the daemon gets a new session, and the phone says hello and asks for everything", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    await daemon.expect("sync");
    for (const generation of [1, 2]) {
      await daemon.restart();
      await greeted(ends);
      assert.equal((await phone.record()).channel.generation, generation);
    }
    await deliver(ends, await dropCard(daemon));
  });
});

Deno.test("a decision survives a restart of the daemon and goes into the new session", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const request_hash = await deliver(ends, await dropCard(daemon));
    const answer = phone.deny(request_hash);
    await daemon.restart(); // before it has read the denial
    await greeted(ends);
    assert.equal((await daemon.expect("decision")).request_hash, request_hash);
    await daemon.send({ t: "decided", request_hash, status: "denied", by: null, reason: null });
    assert.equal((await answer).status, "denied");
  });
});

Deno.test("a handshake under a superseded key locks the channel", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    await daemon.expect("sync");
    const stolen = structuredClone(daemon.run!.state);
    const request_hash = await deliver(ends, await dropCard(daemon));
    await daemon.restart();
    await greeted(ends);
    await daemon.restart(stolen); // somebody who has an old copy of the daemon's state
    await until(ends, (record) => record.channel.locked === "superseded_handshake");
    const locked = (error: unknown) => error instanceof CustosError && error.kind === "locked";
    await assert.rejects(() => phone.deny(request_hash), locked);
    await assert.rejects(() => phone.lock(), locked);
  });
});

Deno.test("a relay that lost its data gets its mailboxes back, and the phone asks for everything", async () => {
  await withPair(async (ends) => {
    const { daemon, relay } = ends;
    await daemon.expect("sync");
    relay.lose();
    await until(ends, (record) => record.read_after === 0);
    await daemon.expect("sync");
    await deliver(ends, await dropCard(daemon));
  });
});

Deno.test("sync ends the cards that the daemon no longer names, but not those made since", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const now = Date.now();
    const gone = await deliver(ends, await dropCard(daemon, { created_ms: now - 2_000 }));
    const kept = await deliver(ends, await dropCard(daemon, { created_ms: now - 2_000 }));
    const fresh = await deliver(ends, await dropCard(daemon, { created_ms: now }));
    await daemon.send({
      t: "sync",
      pending: [kept],
      grants: [],
      now_ms: now - 1_000,
      checkpoint: await daemon.checkpoint(),
    });
    await until(ends, (record) => record.syncs === 1);
    assert.deepEqual(statuses(await phone.cards()), ["over", "pending", "pending"]);
    await assert.rejects(() => phone.deny(gone), (error) => (error as CustosError).kind === "withdrawn");
    assert.deepEqual((await phone.pending()).map((card) => card.request_hash), [kept, fresh]);
  });
});

Deno.test("decided says how a card ended and who decided", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const request_hash = await deliver(ends, await dropCard(daemon));
    await daemon.send({ t: "decided", request_hash, status: "expired", by: null, reason: "timeout" });
    await until(ends, (record) => record.cards[0]?.status === "expired");
    const [card] = await phone.cards();
    assert.deepEqual([card?.by, card?.reason], [null, "timeout"]);
    await daemon.send(card!.message); // a card that has ended does not come back
    await daemon.hello();
    await until(ends, (record) => record.daemon_now_ms > 0);
    assert.deepEqual(statuses(await phone.cards()), ["expired"]);
  });
});

Deno.test("cards beyond the limits of an agent are held back and not shown", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const most = FATIGUE.pending_per_agent;
    const hashes: string[] = [];
    for (let i = 0; i <= most; i++) hashes.push(await deliver(ends, await dropCard(daemon)));
    assert.equal((await phone.pending()).length, most);
    const held = (await phone.cards()).at(-1)!;
    assert.ok(held.held !== null);
    const other = await dropCard(daemon, { agent: { name: "another", client: null } });
    await deliver(ends, other);
    assert.equal((await phone.pending()).length, most + 1);
  });
});

Deno.test("a daemon that states another policy log is not believed", async () => {
  const other = toBase64url(randomBytes(32));
  const rows: [string, { size: number; head: string | null }][] = [
    ["the same size with another head", { size: 1, head: other }],
    ["no entry, yet a head", { size: 0, head: other }],
  ];
  for (const [name, log_head] of rows) {
    await withPair(async (ends) => {
      await ends.daemon.hello({ log_head });
      await until(ends, (record) => record.alarm === "policy_log_forked");
      const refused = ends.phone.lock().then(() => null, (error: CustosError) => error.kind);
      assert.equal(await refused, "locked", name);
    });
  }
});

Deno.test("a daemon whose policy log is shorter gets the entries that it lacks", async () => {
  await withPair(async (ends) => {
    await ends.daemon.hello({ log_head: { size: 0, head: null } });
    const { from, records } = await ends.daemon.expect("entries");
    assert.deepEqual([from, records], [0, ends.daemon.records]);
    assert.equal((await ends.phone.record()).alarm, null);
  });
});

Deno.test("entries that are not signed, or replace known ones, are not taken", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const [genesis] = daemon.records;
    const forged = structuredClone(genesis!);
    const head = daemon.log.head!;
    forged.entry = {
      v: 1,
      seq: 1,
      prev: head,
      body: { type: "secret_delete", secret_id: (await dropCard(daemon)).doc.id },
    };
    await daemon.send({ t: "entries", from: 1, records: [forged] });
    const report = await daemon.expect("error");
    assert.equal(report.code, "bad_request");
    assert.equal((await phone.record()).log.state.size, 1);
    await daemon.send({ t: "entries", from: 3, records: [forged] });
    await daemon.expect("sync"); // there is a gap, so the phone asks
    await daemon.send({
      t: "entries",
      from: 0,
      records: [{ ...genesis!, entry: { ...forged.entry, seq: 0 } }],
    });
    await until(ends, (record) => record.alarm === "policy_log_forked");
  });
});

Deno.test("an audit log that was cut or changed raises an alarm, an unsigned checkpoint does nothing", async () => {
  const rows: [string, (ends: Ends) => void | Promise<void>, string | null][] = [
    ["longer", ({ daemon }) => void (daemon.audit = { size: 5, root: randomBytes(32) }), null],
    [
      "the same size, another root",
      ({ daemon }) => void (daemon.audit = { size: 1, root: randomBytes(32) }),
      "audit_log_forked",
    ],
    [
      "shorter in a new session",
      ({ daemon }) => void (daemon.audit = { size: 0, root: randomBytes(32) }),
      "audit_log_cut",
    ],
  ];
  for (const [name, change, alarm] of rows) {
    await withPair(async (ends) => {
      const { daemon, phone } = ends;
      await daemon.expect("sync");
      await daemon.restart();
      while (daemon.run?.session === null) await daemon.take(1_000);
      await change(ends);
      await daemon.hello();
      await until(ends, (record) => record.daemon_now_ms > 0);
      assert.equal((await phone.record()).alarm, alarm, name);
    });
  }
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const before = (await phone.record()).audit_head;
    daemon.audit = { size: 7, root: randomBytes(32) };
    await daemon.hello({ checkpoint: (await daemon.checkpoint()).replace("\n7\n", "\n8\n") });
    await until(ends, (record) => record.daemon_now_ms > 0);
    assert.deepEqual((await phone.record()).audit_head, before);
    assert.equal((await phone.record()).alarm, null);
  });
});

Deno.test("a relay that cannot be reached is tried again, and what waits is sent then", async () => {
  await withPair(async (ends) => {
    const { daemon, phone, relay } = ends;
    const request_hash = await deliver(ends, await dropCard(daemon));
    await daemon.take();
    relay.down = true;
    const answer = phone.deny(request_hash);
    await phone.when(
      async () => (await phone.record()).outbox.some((item) => item.attempts > 0) || null,
      5_000,
    );
    relay.down = false;
    assert.equal((await daemon.expect("decision")).request_hash, request_hash);
    await daemon.send({ t: "decided", request_hash, status: "denied", by: null, reason: null });
    assert.equal((await answer).status, "denied");
  });
});
