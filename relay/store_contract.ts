/** The tests that every store passes. A store's own test file calls {@link testStore} with a way to make one. */

import assert from "node:assert/strict";
import { PAGE_BYTES_MAX, PAGE_MESSAGES_MAX } from "@custos/core/relay_wire";
import type { RelayLimits } from "./limits.ts";
import type { Store } from "./store.ts";

/** Makes an empty store with these limits and this clock, and a way to leave nothing of it behind. */
export type MakeStore = (
  limits: Partial<RelayLimits>,
  now: () => number,
) => { store: Store; discard: () => void | Promise<void> };

const HASHES = { read_hash: "r".repeat(42) + "A", write_hash: "w".repeat(42) + "A" };
const OTHER = { ...HASHES, write_hash: "x".repeat(42) + "A" };
const [A, B] = ["a".repeat(26), "b".repeat(25) + "a"];
const HOUR_MS = 3_600_000;
const START_MS = 1_800_000_000_000;

class Clock {
  ms = START_MS;
  readonly now = (): number => this.ms;
}

const bytes = (length: number, fill = 1) => new Uint8Array(length).fill(fill);

/** Registers the contract's tests for one kind of store. */
export function testStore(name: string, make: MakeStore): void {
  const test = (
    sentence: string,
    limits: Partial<RelayLimits>,
    body: (s: Store, c: Clock) => Promise<void>,
  ) =>
    Deno.test(`${name} ${sentence}`, async () => {
      const clock = new Clock();
      const { store, discard } = make(limits, clock.now);
      try {
        await body(store, clock);
      } finally {
        await store.close();
        await discard();
      }
    });
  const seqs = async (store: Store, id: string, after = 0) =>
    (await store.read(id, after))?.map((m) => m.seq);
  const append = async (store: Store, id: string, data = bytes(1), ttl_ms = HOUR_MS) => {
    const appended = await store.append(id, data, ttl_ms);
    return appended.kind === "stored" ? appended.seq : appended.kind;
  };

  test("makes a mailbox once, whoever repeats it", {}, async (store) => {
    assert.equal(await store.putMailbox(A, HASHES), "created");
    assert.equal(await store.putMailbox(A, HASHES), "same");
    assert.equal(await store.putMailbox(A, OTHER), "conflict");
    assert.deepEqual(await store.mailbox(A), HASHES);
    assert.equal(await store.mailbox(B), null);
  });

  test("has nothing in a mailbox that is not there", {}, async (store) => {
    assert.equal(await append(store, A), "gone");
    assert.equal(await store.read(A, 0), null);
    assert.equal(await store.ack(A, 1), false);
    assert.equal(await store.remove(A), false);
    assert.equal(await store.putPush(A, "{}"), false);
    assert.equal(await store.push(A), null);
  });

  test("gives back messages in order and above a position", {}, async (store, clock) => {
    await store.putMailbox(A, HASHES);
    const first = await store.append(A, bytes(3, 7), HOUR_MS);
    assert.ok(first.kind === "stored");
    assert.equal(first.expires_ms, clock.ms + HOUR_MS);
    const second = await append(store, A, bytes(2, 8)) as number;
    assert.ok(second > first.seq);
    const page = await store.read(A, 0);
    assert.deepEqual(page, [
      { seq: first.seq, posted_ms: clock.ms, data: bytes(3, 7) },
      { seq: second, posted_ms: clock.ms, data: bytes(2, 8) },
    ]);
    assert.deepEqual(await seqs(store, A, first.seq), [second]);
    assert.deepEqual(await seqs(store, A, second), []);
  });

  test("gives many concurrent messages distinct, growing numbers", {}, async (store) => {
    await store.putMailbox(A, HASHES);
    const given = await Promise.all(Array.from({ length: 50 }, () => append(store, A))) as number[];
    assert.equal(new Set(given).size, 50);
    assert.deepEqual(await seqs(store, A), given.toSorted((a, b) => a - b));
  });

  test("keeps mailboxes apart", {}, async (store) => {
    await store.putMailbox(A, HASHES);
    await store.putMailbox(B, OTHER);
    await append(store, A);
    assert.deepEqual(await seqs(store, B), []);
  });

  test("forgets what was acknowledged and nothing else", {}, async (store) => {
    await store.putMailbox(A, HASHES);
    const [one, two, three] = [
      await append(store, A),
      await append(store, A),
      await append(store, A),
    ] as number[];
    assert.equal(await store.ack(A, two!), true);
    assert.deepEqual(await seqs(store, A), [three]);
    assert.equal(await store.ack(A, one!), true); // an acknowledgement that comes late
    assert.deepEqual(await seqs(store, A), [three]);
  });

  test("takes a position above its last number for one of a lost life", {}, async (store) => {
    await store.putMailbox(A, HASHES);
    const seq = await append(store, A) as number;
    assert.deepEqual(await seqs(store, A, seq + 1000), [seq]);
    await store.ack(A, seq + 1000);
    assert.deepEqual(await seqs(store, A), [seq]);
  });

  test("starts a mailbox that is made anew above its former numbers", {}, async (store, clock) => {
    await store.putMailbox(A, HASHES);
    let last = 0;
    for (let i = 0; i < 20; i++) last = await append(store, A) as number;
    assert.equal(await store.remove(A), true);
    assert.equal(await store.read(A, 0), null);
    clock.ms += 1;
    assert.equal(await store.putMailbox(A, HASHES), "created");
    assert.deepEqual(await seqs(store, A), []);
    assert.ok(await append(store, A) as number > last);
  });

  test("does not give out what has expired, and sweeps it", {}, async (store, clock) => {
    await store.putMailbox(A, HASHES);
    await append(store, A, bytes(1), 1000);
    const kept = await append(store, A, bytes(1), 2000);
    clock.ms += 1000;
    assert.deepEqual(await seqs(store, A), [kept]);
    assert.equal(await store.sweep(), 1);
    assert.equal(await store.sweep(), 0);
    assert.deepEqual(await seqs(store, A), [kept]);
  });

  test("removes a mailbox that nobody reads for long, not one that is read", {
    mailbox_idle_ms: 48 * HOUR_MS,
  }, async (store, clock) => {
    await store.putMailbox(A, HASHES);
    await store.putMailbox(B, OTHER);
    for (let hour = 0; hour < 50; hour += 10) {
      clock.ms += 10 * HOUR_MS;
      await store.read(B, 0);
      await store.sweep();
    }
    assert.equal(await store.mailbox(A), null);
    assert.deepEqual(await store.mailbox(B), OTHER);
  });

  test("refuses what does not fit into a mailbox, until there is room", {
    mailbox_messages_max: 3,
    mailbox_bytes_max: 10,
  }, async (store, clock) => {
    await store.putMailbox(A, HASHES);
    await store.putMailbox(B, OTHER);
    assert.equal(await append(store, A, bytes(11)), "full");
    const first = await append(store, A, bytes(6)) as number;
    assert.equal(await append(store, A, bytes(5)), "full");
    await append(store, A, bytes(1), 1000);
    await append(store, A, bytes(1));
    assert.equal(await append(store, A, bytes(1)), "full");
    assert.equal(typeof await append(store, B), "number");
    clock.ms += 1000; // one expires, and is not swept yet
    assert.equal(typeof await append(store, A), "number");
    await store.ack(A, first);
    assert.equal(typeof await append(store, A, bytes(6)), "number");
  });

  test("refuses what does not fit into the store, until there is room", {
    mailboxes_max: 2,
    store_bytes_max: 10,
  }, async (store) => {
    await store.putMailbox(A, HASHES);
    await store.putMailbox(B, OTHER);
    const third = "c".repeat(25) + "a";
    assert.equal(await store.putMailbox(third, HASHES), "full");
    assert.equal(await store.putMailbox(A, HASHES), "same");
    await append(store, A, bytes(8));
    assert.equal(await append(store, B, bytes(3)), "full");
    await store.remove(A); // gives back the mailbox and its bytes
    assert.equal(typeof await append(store, B, bytes(10)), "number");
    assert.equal(await store.putMailbox(third, HASHES), "created");
  });

  test("cuts pages by number and by size, but always gives one message", {}, async (store) => {
    await store.putMailbox(A, HASHES);
    for (let i = 0; i < PAGE_MESSAGES_MAX + 1; i++) await append(store, A);
    const page = (await seqs(store, A))!;
    assert.equal(page.length, PAGE_MESSAGES_MAX);
    assert.equal((await seqs(store, A, page.at(-1)))?.length, 1);

    await store.putMailbox(B, OTHER);
    await append(store, B, bytes(PAGE_BYTES_MAX + 1));
    for (let i = 0; i < 3; i++) await append(store, B, bytes(PAGE_BYTES_MAX / 2));
    const [large] = (await seqs(store, B))!;
    assert.deepEqual(await seqs(store, B), [large]);
    assert.equal((await seqs(store, B, large))?.length, 2);
  });

  test("keeps the latest push subscription with the mailbox", {}, async (store) => {
    await store.putMailbox(A, HASHES);
    assert.equal(await store.push(A), null);
    assert.equal(await store.putPush(A, '{"n":1}'), true);
    assert.equal(await store.putPush(A, '{"n":2}'), true);
    await store.removePush(A, '{"n":1}'); // not the one that is kept
    assert.equal(await store.push(A), '{"n":2}');
    await store.removePush(A, '{"n":2}');
    assert.equal(await store.push(A), null);
    assert.equal(await store.putPush(A, '{"n":3}'), true);
    await store.remove(A);
    assert.equal(await store.push(A), null);
  });

  test(
    "wakes those who watch a mailbox after a message is there and when it is removed",
    {},
    async (store) => {
      await store.putMailbox(A, HASHES);
      await store.putMailbox(B, OTHER);
      const seen: (number | undefined)[] = [];
      const unwatch = store.watch(A, async () => seen.push((await seqs(store, A))?.length));
      await append(store, B);
      await append(store, A);
      await store.remove(A);
      unwatch();
      await store.putMailbox(A, HASHES);
      await append(store, A);
      await store.ping(); // lets the callbacks finish
      assert.deepEqual(seen, [1, undefined]);
    },
  );
}
