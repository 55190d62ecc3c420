import assert from "node:assert/strict";
import { TokenBuckets } from "./token_buckets.ts";

function setUp(keys_max = 10) {
  const clock = { ms: 1000 };
  const buckets = new TokenBuckets({ capacity: 2, per_second: 2, keys_max, now: () => clock.ms });
  return { clock, take: (key = "a") => buckets.take(key) };
}

Deno.test("TokenBuckets.take() gives its capacity in a row, then says how long to wait", () => {
  const { take, clock } = setUp();
  assert.deepEqual([take(), take(), take()], [0, 0, 500]);
  clock.ms += 250;
  assert.equal(take(), 250);
  clock.ms += 250;
  assert.deepEqual([take(), take()], [0, 500]);
});

Deno.test("TokenBuckets.take() never saves more than its capacity", () => {
  const { take, clock } = setUp();
  take();
  clock.ms += 3_600_000;
  assert.deepEqual([take(), take(), take()], [0, 0, 500]);
});

Deno.test("TokenBuckets.take() counts each key by itself", () => {
  const { take } = setUp();
  assert.deepEqual([take("a"), take("a"), take("b"), take("b")], [0, 0, 0, 0]);
  assert.deepEqual([take("a"), take("b")], [500, 500]);
});

Deno.test("TokenBuckets.take() gives nothing for a clock that is set back", () => {
  const { take, clock } = setUp();
  take(), take();
  clock.ms -= 10_000;
  assert.equal(take(), 500);
  clock.ms += 500;
  assert.equal(take(), 0);
});

Deno.test("TokenBuckets.take() forgets the key that was quiet longest", () => {
  const { take } = setUp(2);
  for (const key of ["a", "a", "b", "b", "a", "c"]) take(key);
  assert.equal(take("a"), 500); // remembered: it was used after "b"
  assert.equal(take("b"), 0);
});
