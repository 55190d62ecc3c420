import assert from "node:assert/strict";
import { toBase64url } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import { Cells, IDLE_MS } from "./cells.ts";
import { get, localPolicy, MARK, S, seal } from "./egress/testdata/open_cell.ts";
import { ok, RawServer } from "./egress/testdata/raw_server.ts";
import type { StoredSecret } from "./policy_store.ts";

/** A sealed secret as the daemon stores it, and the key of its file. */
async function stored(
  origin: string,
  value = S,
): Promise<{ secret: StoredSecret; key: Uint8Array<ArrayBuffer> }> {
  const { policy, file, key, hash } = await seal(localPolicy([origin]), value);
  const secret = {
    secret_id: policy.secret_id,
    name: policy.name,
    policy,
    policy_hash: hash,
    header_sha256: toBase64url(new Uint8Array(32)),
    age_file: Uint8Array.from(file),
  };
  return { secret, key: Uint8Array.from(key) };
}

/** Runs `work` while the monotonic clock stands at `now()`. */
async function withClock(now: () => number, work: () => Promise<void>): Promise<void> {
  const real = performance.now;
  performance.now = now;
  try {
    await work();
  } finally {
    performance.now = real;
  }
}

Deno.test("Cells.acquire() starts one cell for a secret, and the last grant's end ends it", async () => {
  await using api = new RawServer(ok(S));
  const { secret, key } = await stored(api.origin);
  let live = true;
  const cells = new Cells(() => live, true);
  const leases = await Promise.all([1, 2, 3].map(() => cells.acquire(secret, key)));
  assert.equal(cells.size, 1);
  assert.equal(new Set(leases.map(({ cell }) => cell)).size, 1);
  const [{ cell }] = leases as [(typeof leases)[0]];
  assert.equal((await get(cell, { url: `${api.origin}/x` })).text, MARK);
  for (const lease of leases) lease.release();
  assert.deepEqual([cells.size, cell.ended], [1, null], "a live grant keeps it");
  live = false;
  const last = await cells.acquire(secret, key);
  cells.settle(secret.secret_id);
  assert.equal(cells.size, 1, "what is in flight keeps it");
  last.release();
  await Promise.resolve();
  assert.equal(cells.size, 0);
  assert.equal(cell.ended?.kind, "locked");
  assert(key.some((byte) => byte !== 0), "the grant's own key is the grant's to wipe");
});

Deno.test("Cells.sweep() ends a cell that was idle, and none that is in use; a later use starts a new one", async () => {
  await using api = new RawServer(ok("fine"));
  const { secret, key } = await stored(api.origin);
  let now = performance.now();
  await withClock(() => now, async () => {
    const cells = new Cells(() => true, true);
    const first = await cells.acquire(secret, key);
    now += 2 * IDLE_MS;
    cells.sweep();
    assert.equal(cells.size, 1, "in use");
    first.release();
    now += IDLE_MS;
    cells.sweep();
    assert.equal(cells.size, 1, "not longer than the limit");
    now += 1;
    cells.sweep();
    assert.equal(cells.size, 0);
    const second = await cells.acquire(secret, key);
    assert.notEqual(second.cell, first.cell);
    assert.equal((await get(second.cell, { url: `${api.origin}/x` })).text, "fine");
    second.release();
    cells.terminateAll("the test is over");
  });
});

Deno.test("Cells.acquire() replaces a cell that stopped with an error, and one of an older policy", async () => {
  await using api = new RawServer(ok("fine"));
  const { secret, key } = await stored(api.origin);
  const cells = new Cells(() => true, true);
  const first = await cells.acquire(secret, key);
  first.cell.terminate(new CustosError("internal", "It stopped."));
  first.release();
  const second = await cells.acquire(secret, key);
  assert.notEqual(second.cell, first.cell);
  assert.equal((await get(second.cell, { url: `${api.origin}/x` })).text, "fine");

  const newer = await stored(api.origin, "tok_live_00000000");
  const same = { ...newer.secret, secret_id: secret.secret_id };
  const third = await cells.acquire(same, newer.key);
  await Promise.resolve();
  assert.notEqual(second.cell.ended, null);
  assert.equal(cells.size, 1);
  for (const lease of [second, third]) lease.release();
  assert.equal(cells.terminateAll("the test is over"), 1);
});

Deno.test("a cell that is ended while it starts sends nothing for the one who waits for it", async () => {
  await using api = new RawServer(ok("fine"));
  const { secret, key } = await stored(api.origin);
  const cells = new Cells(() => true, true);
  const waiting = cells.acquire(secret, key).then(async (lease) => {
    const got = await get(lease.cell, { url: `${api.origin}/x` });
    lease.release();
    return got;
  });
  cells.terminate(secret.secret_id, "its grant was taken back");
  assert.equal((await waiting).error?.kind, "locked");
  assert.deepEqual([cells.size, api.connections], [0, 0]);
});

Deno.test("Cells.acquire() refuses a wrong key, keeps no cell for it, and works with the right one after", async () => {
  await using api = new RawServer(ok("fine"));
  const { secret, key } = await stored(api.origin);
  const cells = new Cells(() => true, true);
  await assert.rejects(cells.acquire(secret, new Uint8Array(16)), { kind: "bad_request" });
  assert.equal(cells.size, 0);
  const lease = await cells.acquire(secret, key);
  assert.equal((await get(lease.cell, { url: `${api.origin}/x` })).text, "fine");
  lease.release();
  cells.terminateAll("the test is over");
});
