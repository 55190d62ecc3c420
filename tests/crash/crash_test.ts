/**
 * A sample of `deno task crash`: the daemon is killed at random moments of two lives, and what must be true is true each time
 * (`checks.ts` says what). The full run has 1,000 moments.
 */

import assert from "node:assert/strict";
import { SHARED } from "../relay_malice/stage.ts";
import { drawMoment } from "./moments.ts";
import { seeded } from "./random.ts";
import { crash } from "./run.ts";

const POINTS = 25;

Deno.test(
  "a daemon that is killed at any moment loses nothing that was said, and sends nothing twice",
  SHARED,
  async () => {
    const points = await crash({ points: POINTS, seed: Math.floor(Date.now() / 1_000), jobs: 2 });
    const failures = points.filter(({ failure }) => failure !== null);
    assert.deepEqual(failures, []);
    assert.ok(points.filter(({ moment }) => moment !== null).length >= POINTS);
  },
);

Deno.test("drawMoment() draws every kind of moment, and the same ones from the same seed", () => {
  const usual = { ms: 100, daemon: 5, phone: 5, answers: 2 };
  const draw = (seed: number) => {
    const random = seeded(seed);
    return Array.from({ length: 200 }, () => drawMoment(random, usual));
  };
  assert.deepEqual(draw(1), draw(1));
  assert.notDeepEqual(draw(1), draw(2));
  assert.deepEqual(new Set(draw(1).map(({ kind }) => kind)), new Set(["time", "relay", "answer", "sent"]));
});
