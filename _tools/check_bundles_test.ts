import assert from "node:assert/strict";
import { buildCell, CELL_BUNDLE, CELL_SOURCE } from "./cell_bundle.ts";
import { checkBundles } from "./check_bundles.ts";
import { fixture } from "./fixture.ts";

Deno.test("checkBundles() passes bytes that the source gives, and finds any other and none", async () => {
  const root = await fixture({ [CELL_SOURCE]: "export const answer: number = 42;\nconsole.log(answer);\n" });
  try {
    assert.match((await checkBundles(root)).join(), /cell\.bundle\.js is missing/);
    await buildCell(root, `${root}/${CELL_BUNDLE}`);
    assert.deepEqual(await checkBundles(root), []);
    const text = await Deno.readTextFile(`${root}/${CELL_BUNDLE}`);
    assert.equal(text.includes(root), false, "the bundle names the folder it was built in");
    await Deno.writeTextFile(`${root}/${CELL_BUNDLE}`, text + " ");
    assert.match((await checkBundles(root)).join(), /differs from its source/);
    await Deno.writeTextFile(`${root}/${CELL_SOURCE}`, "import './gone.ts';");
    assert.equal((await checkBundles(root)).length, 1, "a bundle that cannot be built is not a pass");
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
