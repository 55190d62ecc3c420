import assert from "node:assert/strict";
import { runSteps } from "./ok.ts";

Deno.test("runSteps() runs all after a failure, counts a check that breaks as failed, and lists what to mend", async () => {
  const lines: string[] = [];
  const failed = await runSteps([
    { name: "one", run: () => ["a.ts is long"] },
    {
      name: "two",
      run: () => {
        throw new Error("broken");
      },
    },
    { name: "three", run: () => Promise.resolve([]) },
  ], (line) => lines.push(line));
  assert.equal(failed, 2);
  assert.match(lines[0]!, /one +FAIL/);
  assert.match(lines[2]!, /three +pass +\d+\.\d s/);
  assert.equal(lines.at(-1), "\n1 passed, 2 failed");
  assert.ok(lines.includes("  a.ts is long") && lines.includes("  broken"));
});
