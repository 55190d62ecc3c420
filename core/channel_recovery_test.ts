/** Restarts, losses and repetitions between offer, acceptance and first message: both sides recover, and never lock. */

import assert from "node:assert/strict";
import { connect, talk, TestDaemon, TestPhone } from "./testdata/channels.ts";

/** Restarts until both sides talk again: an honest pair needs one. */
async function recovers(daemon: TestDaemon, phone: TestPhone): Promise<void> {
  await connect(daemon, phone);
  assert.equal(phone.state.locked, null);
}

/** Where the daemon dies in a run. What was sent may be lost as well. */
const POINTS: [name: string, run: (daemon: TestDaemon, phone: TestPhone) => Promise<unknown>][] = [
  ["before its offer is read", (daemon) => daemon.start()],
  ["after the acceptance, which is lost", async (daemon, phone) => await phone.accept(await daemon.start())],
  [
    "after it took the acceptance, before it sent anything",
    async (daemon, phone) => await daemon.accept(await phone.accept(await daemon.start())),
  ],
  [
    "after its first message, which is lost",
    async (daemon, phone) => {
      await daemon.accept(await phone.accept(await daemon.start()));
      await daemon.send("hello");
    },
  ],
  [
    "after its first message, the answer to which is lost",
    async (daemon, phone) => {
      await daemon.accept(await phone.accept(await daemon.start()));
      await phone.take(await daemon.send("hello"));
      await phone.send("hello");
    },
  ],
  [
    "after the phone's first message, before its own",
    async (daemon, phone) => {
      await daemon.accept(await phone.accept(await daemon.start()));
      assert.equal(await daemon.take(await phone.send("early")), "early");
    },
  ],
  ["while both talk", connect],
];

for (const [first, one] of POINTS) {
  for (const [second, other] of POINTS) {
    Deno.test(`beginRun() recovers from a daemon that died ${first}, and again ${second}`, async () => {
      const [daemon, phone] = [new TestDaemon(), new TestPhone()];
      await one(daemon, phone);
      await other(daemon, phone);
      await recovers(daemon, phone);
    });
  }
}

for (const [name, die] of POINTS) {
  Deno.test(`phoneReceive() keeps its session through every frame sent again, after a daemon that died ${name}`, async () => {
    const [daemon, phone] = [new TestDaemon(), new TestPhone()];
    const sent: Uint8Array[] = [];
    const take = phone.take.bind(phone);
    phone.take = async (frame) => {
      sent.push(frame);
      return await take(frame);
    };
    await die(daemon, phone);
    await connect(daemon, phone);
    await connect(daemon, phone);
    const state = phone.state;
    for (const frame of [...sent, ...sent.toReversed()]) {
      assert.equal((await take(frame)).kind, "refused");
      assert.deepEqual(phone.state, state);
    }
    await talk(daemon, phone);
  });
}

Deno.test("phoneReceive() answers an offer that is sent again with the same acceptance", async () => {
  const [daemon, phone] = [new TestDaemon(), new TestPhone()];
  const offer = await daemon.start();
  const answer = await phone.accept(offer);
  const state = phone.state;
  assert.deepEqual(await phone.accept(offer), answer);
  assert.deepEqual(phone.state, state);
  assert.equal(await daemon.accept(answer), true);
  assert.equal(await daemon.accept(answer), false);
  await talk(daemon, phone);
});

Deno.test("phoneReceive() takes offers of one generation in any order and never locks", async () => {
  const orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
  for (const order of orders) {
    const [daemon, phone] = [new TestDaemon(), new TestPhone()];
    const offers = [await daemon.start(), await daemon.start(), await daemon.start()];
    for (const place of order) {
      const received = await phone.take(offers[place]!);
      // the newest run's acceptance is the only one that the daemon can use
      if (place === 2) {
        assert.equal(await daemon.accept(received.kind === "answer" ? received.frame : offers[0]!), true);
      }
    }
    assert.equal(await daemon.take(await phone.send("early")), "early", order.join());
    await talk(daemon, phone);
    for (const offer of offers) assert.equal((await phone.take(offer)).kind, "refused");
    await talk(daemon, phone);
  }
});

Deno.test("phoneReceive() refuses an offer that comes late for the first time, and does not lock", async () => {
  const [daemon, phone] = [new TestDaemon(), new TestPhone()];
  const late = await daemon.start();
  await connect(daemon, phone);
  const state = phone.state;
  assert.deepEqual(await phone.take(late), { kind: "refused", why: "replayed" });
  assert.deepEqual(phone.state, state);
  await talk(daemon, phone);
});

Deno.test("phoneReceive() keeps the newest run's session, however many older offers come after it", async () => {
  const [daemon, phone] = [new TestDaemon(), new TestPhone()];
  const older = [];
  for (let i = 0; i < 8; i++) older.push(await daemon.start());
  const answer = await phone.accept(await daemon.start());
  for (const offer of older) assert.equal((await phone.take(offer)).kind, "refused");
  assert.equal(await daemon.accept(answer), true);
  await talk(daemon, phone);
  await recovers(daemon, phone);
});

Deno.test("beginRun() forgets the old root after the first message, and the run's offers", async () => {
  const [daemon, phone] = [new TestDaemon(), new TestPhone()];
  const first = daemon.disk.root;
  await daemon.accept(await phone.accept(await daemon.start()));
  assert.equal(daemon.disk.root, first);
  await talk(daemon, phone);
  assert.equal(JSON.stringify(daemon.disk).includes(first), false);
  assert.equal(daemon.disk.root, phone.state.root);
  assert.deepEqual([daemon.disk.generation, phone.state.generation, daemon.disk.next], [1, 1, null]);
  assert.equal(JSON.stringify(phone.state).includes(first), false);
});
