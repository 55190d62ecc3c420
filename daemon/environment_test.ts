import assert from "node:assert/strict";
import { DENO_FLOOR, isAtLeast } from "./environment.ts";

Deno.test("isAtLeast() compares versions by number, part by part", () => {
  const rows: [string, boolean][] = [
    ["2.9.5", true],
    ["2.9.6", true],
    ["2.10.0", true],
    ["3.0.0", true],
    ["2.9.5+abc", true],
    ["2.9.4", false],
    ["2.8.9", false],
    ["1.99.99", false],
    ["", false],
    ["x.y.z", false],
  ];
  for (const [version, expected] of rows) assert.equal(isAtLeast(version, DENO_FLOOR), expected, version);
});
