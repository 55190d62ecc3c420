import assert from "node:assert/strict";
import { checkPublish } from "./check_publish.ts";
import { findingsIn } from "./fixture.ts";
import { MEMBERS } from "./members.ts";

const LICENSE = "Apache-2.0";

/** Every member with one explicit export. */
const GOOD: Record<string, string> = Object.fromEntries(MEMBERS.flatMap((name) => [
  [
    `${name}/deno.json`,
    JSON.stringify({ name: `@custos/${name}`, version: "0.1.0", license: LICENSE, exports: "./mod.ts" }),
  ],
  [`${name}/mod.ts`, `/** One. */\nexport const one: number = 1;\n`],
]));

Deno.test("checkPublish() passes members with explicit types", async () => {
  assert.deepEqual(await findingsIn(GOOD, checkPublish), []);
});

Deno.test("checkPublish() names the members with slow types or a path across members", async () => {
  const found = await findingsIn({
    ...GOOD,
    "core/mod.ts": "export const slow = Math.max(1, 2) > 1 ? new Map() : null;\n",
    "cli/mod.ts": `import { one } from "../rpc/mod.ts";\n/** One. */\nexport const two: number = one;\n`,
  }, checkPublish);
  assert.deepEqual(found.map((text) => text.split(" ")[0]), ["core", "cli"]);
  assert.match(found[0]!, /slow|explicit type/i);
});
