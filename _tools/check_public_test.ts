import assert from "node:assert/strict";
import { publicFiles } from "./check_public.ts";
import { fixture } from "./fixture.ts";
import { compareGolden } from "./golden.ts";

Deno.test("publicFiles() lists the names of a mod.ts, and files and packages behind an entrypoint", async () => {
  const root = await fixture({
    "deno.json": JSON.stringify({ workspace: ["./core", "./cli"], lock: false }),
    "core/deno.json": JSON.stringify({
      name: "@custos/core",
      version: "0.0.0",
      exports: { ".": "./mod.ts", "./a": "./a.ts" },
    }),
    "core/mod.ts": `export { type A, a } from "./a.ts";\n`,
    "core/a.ts": `export interface A { x: 1 }\nexport function a(): void {}\nexport const hidden = 1;\n`,
    "cli/main.ts":
      `import { a } from "@custos/core/a";\nimport "node:path";\nawait import("./late.ts");\na();\n`,
    "cli/late.ts": "",
  });
  try {
    const files = await publicFiles(root);
    const exports = files.get("_tools/golden/core.exports.txt");
    assert.equal(exports, "entry . ./mod.ts\nentry ./a ./a.ts\nfunction a\ninterface A\n");
    assert.equal(
      files.get("_tools/golden/cli.graph.txt"),
      "cli/late.ts\ncli/main.ts\ncore/a.ts\nnode:path\n",
    );
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("compareGolden() shows what was added, what was taken away, and what is missing", async () => {
  const root = await fixture({ "g/a.txt": "one\ntwo\n" });
  try {
    const found = compareGolden(root, new Map([["g/a.txt", "two\nthree\n"], ["g/b.txt", ""]]));
    assert.match(found[0]!, /g\/a\.txt differs:\n {2}- one\n {2}\+ three/);
    assert.match(found[1]!, /g\/b\.txt is missing/);
    assert.match(compareGolden(root, new Map([["g/a.txt", "two\none\n"]]))[0]!, /the order of lines/);
    assert.deepEqual(compareGolden(root, new Map([["g/a.txt", "one\ntwo\n"]])), []);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
