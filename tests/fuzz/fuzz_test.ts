import assert from "node:assert/strict";
import { fuzz } from "./fuzz.ts";
import { Random } from "./random.ts";

Deno.test("fuzz() finds nothing wrong with URLs, headers and scrubbing in 20,000 inputs", () => {
  const seed = crypto.getRandomValues(new Uint32Array(1))[0]!;
  assert.equal(fuzz(20_000, seed), null);
});

Deno.test("Random gives the same numbers for the same seed, and every number below its bound", () => {
  const draw = (seed: number) => {
    const random = new Random(seed);
    return Array.from({ length: 2_000 }, () => random.below(10));
  };
  assert.deepEqual(draw(7), draw(7));
  assert.notDeepEqual(draw(7), draw(8));
  assert.deepEqual([...new Set(draw(7))].toSorted(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});
