import assert from "node:assert/strict";
import { renameChunks } from "./chunk_names.ts";

/** A bundle whose parts have these made-up hashes. */
function bundle(engine: string, shared: string, text = "shared"): Map<string, string> {
  return new Map([
    ["main.js", `import"./chunk-${shared}.js";const later=()=>import("./engine-${engine}.js");`],
    [`engine-${engine}.js`, `import"./chunk-${shared}.js";export const e=1;`],
    [
      `chunk-${shared}.js`,
      `export const s=${JSON.stringify(text)};const back=()=>import("./engine-${engine}.js");`,
    ],
  ]);
}

Deno.test("renameChunks() gives the same files whatever the bundler called its parts, circles too", () => {
  const one = renameChunks(bundle("AAAAAAAA", "BBBBBBBB"));
  const other = renameChunks(bundle("ZZZZ9999", "00000000"));
  assert.deepEqual([...one].sort(), [...other].sort());
  const names = [...one.keys()];
  assert.match(names.join(), /^main\.js,engine-[A-Z0-9]{8}\.js,chunk-[A-Z0-9]{8}\.js$/);
  for (const name of names.slice(1)) assert.ok([...one.values()].join().includes(`./${name}"`), name);
  assert.ok(!/AAAAAAAA|BBBBBBBB/.test([...one].join()));
});

Deno.test("renameChunks() gives a part another name when something changes in it, or in what it loads", () => {
  const [one, other] = ["shared", "changed"].map((text) =>
    renameChunks(bundle("AAAAAAAA", "BBBBBBBB", text))
  );
  assert.deepEqual([...one!.keys()].filter((name) => other!.has(name)), ["main.js"]);
});

Deno.test("renameChunks() leaves a bundle without parts as it is", () => {
  const files = new Map([["main.js", "const a=1;"]]);
  assert.deepEqual(renameChunks(files), files);
});
