import assert from "node:assert/strict";
import { checkSizes, MAX_LINES } from "./check_sizes.ts";
import { findingsIn } from "./fixture.ts";

Deno.test("checkSizes() counts source to the line and leaves data out", async () => {
  const lines = (count: number) => "x;\n".repeat(count);
  const found = await findingsIn({
    "core/full.ts": lines(MAX_LINES),
    "core/long.ts": lines(MAX_LINES + 1),
    "pwa/long.tsx": lines(MAX_LINES + 1),
    "core/testdata/vectors.ts": lines(MAX_LINES + 1),
    "pwa/dist/engine.js": lines(MAX_LINES + 1),
    "daemon/egress/cell.bundle.js": lines(MAX_LINES + 1),
    "core/words.txt": lines(MAX_LINES + 1),
  }, checkSizes);
  assert.deepEqual(found.map((line) => line.split(" ")[0]), ["core/long.ts", "pwa/long.tsx"]);
  assert.match(found[0]!, /has 301 lines; the most is 300/);
});
