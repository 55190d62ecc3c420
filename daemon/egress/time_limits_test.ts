import assert from "node:assert/strict";
import { checkLimits, DEFAULT_LIMITS, MAX_LIMIT_MS } from "./time_limits.ts";

Deno.test("checkLimits() fills in defaults that fit together", () => {
  assert.deepEqual(checkLimits({}), DEFAULT_LIMITS);
  assert.deepEqual(checkLimits({ total_ms: 500 }), { header_ms: 500, total_ms: 500 });
  assert.deepEqual(checkLimits({ header_ms: 5, total_ms: 500 }), { header_ms: 5, total_ms: 500 });
  assert.deepEqual(checkLimits({}, true), {
    header_ms: DEFAULT_LIMITS.total_ms,
    total_ms: DEFAULT_LIMITS.total_ms,
  });
});

Deno.test("checkLimits() refuses what a timer would take for zero or for ever", () => {
  for (const ms of [0, -1, 0.5, NaN, Infinity, 2 ** 31, MAX_LIMIT_MS + 1]) {
    assert.throws(() => checkLimits({ total_ms: ms }), { kind: "bad_request" });
    assert.throws(() => checkLimits({ header_ms: ms }), { kind: "bad_request" });
  }
});
