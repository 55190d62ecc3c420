import assert from "node:assert/strict";
import { buildCell, CELL_BUNDLE, CELL_SOURCE } from "./cell_bundle.ts";
import { checkCell, checkPwa } from "./check_bundles.ts";
import { fixture } from "./fixture.ts";
import {
  assetsModule,
  buildPwa,
  FIRST_SCREEN_BYTES,
  firstScreenScripts,
  PWA_ASSETS,
  PWA_DIST,
  PWA_SOURCE,
} from "./pwa_bundle.ts";

async function inFixture(
  files: Record<string, string>,
  work: (root: string) => Promise<void>,
): Promise<void> {
  const root = await fixture(files);
  try {
    await work(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("checkCell() passes bytes that the source gives, and finds any other and none", async () => {
  const source = "export const answer: number = 42;\nconsole.log(answer);\n";
  await inFixture({ [CELL_SOURCE]: source }, async (root) => {
    assert.match((await checkCell(root)).join(), /cell\.bundle\.js is missing/);
    await buildCell(root, `${root}/${CELL_BUNDLE}`);
    assert.deepEqual(await checkCell(root), []);
    const text = await Deno.readTextFile(`${root}/${CELL_BUNDLE}`);
    assert.equal(text.includes(root), false, "the bundle names the folder it was built in");
    await Deno.writeTextFile(`${root}/${CELL_BUNDLE}`, text + " ");
    assert.match((await checkCell(root)).join(), /differs from its source/);
    await Deno.writeTextFile(`${root}/${CELL_SOURCE}`, "import './gone.ts';");
    assert.equal((await checkCell(root)).length, 1, "a bundle that cannot be built is not a pass");
  });
});

const APP: Record<string, string> = {
  [`${PWA_SOURCE}/main.tsx`]: `
import { shared } from "./shared.ts";
const later = () => import("./later.ts");
console.log(shared, later);`,
  [`${PWA_SOURCE}/shared.ts`]: `export const shared: string = "shared text";`,
  [`${PWA_SOURCE}/later.ts`]:
    `import { shared } from "./shared.ts"; export const later: string = "later " + shared;`,
  [`${PWA_SOURCE}/sw.ts`]:
    `declare const CUSTOS_BUILD: { version: string }; console.log(CUSTOS_BUILD.version);`,
  ...Object.fromEntries(
    ["index.html", "style.css", "manifest.webmanifest", "icon.svg", "icon-180.png", "icon-512.png"].map((
      name,
    ) => [
      `${PWA_SOURCE}/${name}`,
      `this is ${name}`,
    ]),
  ),
};

async function builtIn(root: string): Promise<string> {
  const dist = `${root}/${PWA_DIST}`;
  await Deno.mkdir(dist, { recursive: true });
  await buildPwa(root, dist);
  await Deno.writeTextFile(`${root}/${PWA_ASSETS}`, await assetsModule(dist));
  return dist;
}

Deno.test("checkPwa() passes what the source gives, and finds a file that differs, is missing or is too many", async () => {
  await inFixture(APP, async (root) => {
    const dist = await builtIn(root);
    assert.deepEqual(await checkPwa(root), []);
    await Deno.writeTextFile(`${dist}/extra.js`, "");
    assert.match((await checkPwa(root)).join(), /extra\.js is not of this build/);
    await Deno.remove(`${dist}/extra.js`);
    await Deno.writeTextFile(`${dist}/style.css`, "other");
    assert.match((await checkPwa(root)).join(), /style\.css differs/);
    await Deno.remove(`${dist}/style.css`);
    assert.match((await checkPwa(root)).join(), /style\.css is missing/);
  });
});

Deno.test("checkPwa() finds a first screen that needs too much script, and does not count what comes later", async () => {
  const large = `export const large: string[] = ${
    JSON.stringify(Array.from({ length: 4000 }, () => crypto.randomUUID()))
  };`;
  const later = { ...APP, [`${PWA_SOURCE}/later.ts`]: large };
  await inFixture(later, async (root) => {
    const dist = await builtIn(root);
    assert.ok(firstScreenScripts(dist).includes("main.js"));
    assert.deepEqual(await checkPwa(root), []);
  });
  const first = { ...APP, [`${PWA_SOURCE}/shared.ts`]: `${large} export const shared = large;` };
  await inFixture(first, async (root) => {
    await builtIn(root);
    assert.match(
      (await checkPwa(root)).join(),
      new RegExp(`first screen needs \\d+ .* most is ${FIRST_SCREEN_BYTES}`),
    );
  });
});

Deno.test("buildPwa() gives the same bytes in another folder, and a new worker for every change", async () => {
  const builds: string[] = [];
  for (const style of ["a", "a", "b"]) {
    await inFixture({ ...APP, [`${PWA_SOURCE}/style.css`]: style }, async (root) => {
      const dist = await builtIn(root);
      builds.push(await Deno.readTextFile(`${dist}/manifest.json`));
      assert.equal((await Deno.readTextFile(`${dist}/main.js`)).includes(root), false);
    });
  }
  assert.equal(builds[0], builds[1]);
  const worker = (text: string) => (JSON.parse(text) as { files: Record<string, string> }).files["sw.js"];
  assert.notEqual(worker(builds[0]!), worker(builds[2]!));
});
