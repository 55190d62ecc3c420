import assert from "node:assert/strict";
import { type Ring, Waiter, Waiters } from "./waiters.ts";

const LONG_MS = 5_000;

Deno.test("Waiter.wait() ends with the ring that comes", async () => {
  const waiter = new Waiter();
  const waiting = waiter.wait(LONG_MS);
  waiter.ring("changed");
  assert.equal(await waiting, "changed");
});

Deno.test("Waiter.wait() does not miss a ring that came before it", async () => {
  const waiter = new Waiter();
  waiter.ring("changed");
  waiter.ring("changed");
  assert.equal(await waiter.wait(LONG_MS), "changed");
  assert.equal(await waiter.wait(1), "time"); // both rings were one piece of news
});

for (const final of ["left", "replaced", "stopping"] as Ring[]) {
  Deno.test(`Waiter.wait() ends at once for ever after "${final}"`, async () => {
    const waiter = new Waiter();
    waiter.ring("changed");
    waiter.ring(final);
    waiter.ring("changed");
    assert.equal(await waiter.wait(LONG_MS), final);
    assert.equal(await waiter.wait(LONG_MS), final);
  });
}

Deno.test("Waiters.open() ends the oldest of a mailbox where there are too many, and nobody else's", async () => {
  const waiters = new Waiters(2);
  const other = waiters.open("b");
  const [oldest, second, newest] = [waiters.open("a"), waiters.open("a"), waiters.open("a")];
  assert.equal(await oldest.wait(LONG_MS), "replaced");
  for (const waiter of [second, newest, other]) assert.equal(await waiter.wait(1), "time");
  assert.equal(waiters.count, 3);
});

Deno.test("Waiters.close() makes room", async () => {
  const waiters = new Waiters(1);
  const first = waiters.open("a");
  waiters.close("a", first);
  waiters.close("a", first);
  assert.equal(waiters.count, 0);
  waiters.open("a");
  assert.equal(await first.wait(1), "time");
});

Deno.test("Waiters.stop() ends those who wait and those who come later", async () => {
  const waiters = new Waiters(2);
  const before = waiters.open("a");
  const waiting = before.wait(LONG_MS);
  waiters.stop();
  assert.equal(await waiting, "stopping");
  assert.equal(await waiters.open("b").wait(LONG_MS), "stopping");
});
