import assert from "node:assert/strict";
import { Reporter } from "./reporter.ts";

Deno.test("Reporter.report() repeats a line only after a minute", () => {
  let now = 0;
  const lines: string[] = [];
  const reporter = new Reporter((line) => lines.push(line), () => now);
  for (let i = 0; i < 1000; i++) reporter.report("disk full");
  reporter.report("something else");
  now = 59_999;
  reporter.report("disk full");
  assert.deepEqual(lines, ["disk full", "something else"]);
  now = 60_000;
  reporter.report("disk full");
  assert.deepEqual(lines, ["disk full", "something else", "disk full"]);
});
