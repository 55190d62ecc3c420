import assert from "node:assert/strict";
import { countJunit } from "./junit.ts";
import { installed, verdict } from "./run_tests.ts";

const JUNIT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="4" failures="1" errors="0" time="0.396">
  <testsuite name="./t/a_test.ts" tests="4" disabled="1" errors="0" failures="1">
    <testcase name="a ok" classname="./t/a_test.ts" time="0.001" line="1" col="6">
    </testcase>
    <testcase name="b bad" classname="./t/a_test.ts" time="0.001" line="2" col="6">
      <failure message="Uncaught Error: x">Error: x &lt;skipped/&gt;</failure>
    </testcase>
    <testcase name="needs &quot;nats&quot;" classname="./t/a_test.ts" time="0.000" line="3" col="6">
      <skipped/>
    </testcase>
    <testcase name="d &gt; one" classname="./t/a_test.ts" time="0.000" line="4" col="43">
    </testcase>
  </testsuite>
</testsuites>`;

Deno.test("countJunit() counts steps too and names what was not run", () => {
  assert.deepEqual(countJunit(JUNIT), { passed: 2, failed: 1, ignored: [`./t/a_test.ts: needs "nats"`] });
  assert.deepEqual(countJunit(""), { passed: 0, failed: 0, ignored: [] });
});

Deno.test("verdict() never says 0 failed of a run that failed, and never passes a run of nothing", () => {
  const counts = (passed: number, failed: number, ...ignored: string[]) => ({ passed, failed, ignored });
  const last = (code: number, c: ReturnType<typeof counts>, all = false) => {
    const { code: end, lines } = verdict(code, c, [], all);
    return [end, lines.at(-1)];
  };
  assert.deepEqual(last(0, counts(3, 0)), [0, "3 passed, 0 failed"]);
  assert.deepEqual(last(1, counts(3, 2)), [1, "3 passed, 2 failed"]);
  assert.deepEqual(last(1, counts(3, 0)), [1, "3 passed, 1 failed"]);
  assert.deepEqual(last(0, counts(0, 0)), [1, "0 passed, 0 failed"]);
  assert.deepEqual(last(0, counts(3, 0, "x")), [0, "3 passed, 0 failed"]);
  assert.deepEqual(last(0, counts(3, 0, "x"), true), [1, "3 passed, 1 failed"]);
  assert.deepEqual(verdict(0, counts(1, 0, "f: t"), ["nginx"], false).lines.slice(0, 2), [
    "Not installed here: nginx.",
    "Not run: f: t",
  ]);
});

Deno.test("installed() looks along the PATH", async () => {
  const dir = await Deno.makeTempDir();
  await Deno.writeTextFile(`${dir}/nginx`, "");
  await Deno.mkdir(`${dir}/wrk`);
  assert.deepEqual(installed(["nginx", "wrk", "other"], `/nowhere::${dir}`), ["nginx"]);
  await Deno.remove(dir, { recursive: true });
});
