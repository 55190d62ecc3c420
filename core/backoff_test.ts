import assert from "node:assert/strict";
import { Backoff } from "./backoff.ts";
import type { RelayOutcome } from "./relay_client.ts";

const DOWN: RelayOutcome<never> = { kind: "unreachable", retry_after_ms: 0 };

Deno.test("Backoff.next() grows from half a second to its ceiling and stays there", () => {
  const [lowest, highest] = [new Backoff(() => 0), new Backoff(() => 1)];
  const pauses = (backoff: Backoff) => Array.from({ length: 9 }, () => backoff.next(DOWN));
  assert.deepEqual(pauses(highest), [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  assert.deepEqual(pauses(lowest), [100, 200, 400, 800, 1600, 3200, 6000, 6000, 6000]);
});

Deno.test("Backoff.next() allows at most 10 tries a minute in a long outage (B171)", () => {
  const backoff = new Backoff();
  for (let i = 0; i < 10; i++) backoff.next(DOWN);
  for (let i = 0; i < 1000; i++) assert.ok(backoff.next(DOWN)! >= 6000);
});

Deno.test("Backoff.next() starts again after a success", () => {
  const backoff = new Backoff(() => 1);
  for (let i = 0; i < 5; i++) backoff.next(DOWN);
  assert.equal(backoff.next({ kind: "ok", value: [] }), 0);
  assert.equal(backoff.next(DOWN), 500);
});

Deno.test("Backoff.next() waits as long as it was asked to, within reason, and not in step with others", () => {
  assert.equal(new Backoff(() => 0).next({ kind: "too_many", retry_after_ms: 7000 }), 7100);
  assert.equal(new Backoff(() => 1).next({ kind: "too_many", retry_after_ms: 7000 }), 7500);
  assert.equal(new Backoff(() => 0).next({ kind: "unreachable", retry_after_ms: 86_400_000 }), 300_100);
});

Deno.test("Backoff.next() stops where no later try can go better (B171)", () => {
  assert.equal(new Backoff().next({ kind: "unauthorized" }), null);
  assert.equal(new Backoff().next({ kind: "refused", error: "invite_required" }), null);
  for (const outcome of [DOWN, { kind: "gone" }, { kind: "full" }, { kind: "bad_reply" }] as const) {
    assert.notEqual(new Backoff().next(outcome), null);
  }
});

Deno.test("Backoff pauses after useless pages, a few aside, and up to two seconds (B171)", () => {
  const backoff = new Backoff();
  const useless = () => backoff.page(false);
  assert.deepEqual([useless(), useless(), useless(), useless(), useless()], [0, 0, 0, 100, 200]);
  for (let i = 0; i < 2_000; i++) useless();
  assert.equal(useless(), 2_000);
  assert.equal(backoff.page(true), 0);
  assert.equal(useless(), 0);
});
