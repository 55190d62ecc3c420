import assert from "node:assert/strict";
import { ago, bold, clock, count, duration, number, quoted, rows, stamp } from "./text.ts";

Deno.test("duration() uses the largest unit that fits", () => {
  const table: [number, string][] = [
    [-5, "0 s"],
    [89_400, "89 s"],
    [90_000, "2 min"],
    [840_000, "14 min"],
    [5_400_000, "2 h"],
    [172_800_000, "2 days"],
  ];
  for (const [ms, text] of table) assert.equal(duration(ms), text);
  assert.equal(ago(1_000, 1_500), "just now");
  assert.equal(ago(0, 60_000), "60 s ago");
});

Deno.test("clock() leaves the date out only where it is today", () => {
  const noon = new Date(2026, 10, 30, 12, 5, 9).getTime();
  assert.equal(stamp(noon), "2026-11-30 12:05:09");
  assert.equal(clock(noon, noon + 3_600_000), "12:05");
  assert.equal(clock(noon, noon + 86_400_000), "2026-11-30 12:05");
});

Deno.test("count() and number() group and agree", () => {
  assert.equal(count(1, "entry", "entries"), "1 entry");
  assert.equal(count(1_234_567, "entry", "entries"), "1,234,567 entries");
  assert.deepEqual([0, 999, 1_000].map(number), ["0", "999", "1,000"]);
});

Deno.test("quoted() and rows() keep one value on one line", () => {
  assert.equal(quoted("a\nHost: b"), '"a\\u{a}Host: b"');
  assert.equal(rows([["a", "1"], ["long", "2"]]), "  a     1\n  long  2\n");
  assert.equal(bold("x", false), "x");
  assert.equal(bold("x", true), "\x1b[1mx\x1b[22m");
});
