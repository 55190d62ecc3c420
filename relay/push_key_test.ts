import assert from "node:assert/strict";
import { openVapidKey } from "./push_key.ts";
import type { StartError } from "./start_error.ts";

Deno.test("openVapidKey() makes a key that only its owner can read, and gives the same one again", async () => {
  const folder = await Deno.makeTempDir();
  const key = await openVapidKey(folder);
  assert.deepEqual(await openVapidKey(folder), key);
  assert.notDeepEqual(await openVapidKey(await Deno.makeTempDir()), key);
  assert.equal((await Deno.stat(`${folder}/push_key.json`)).mode! & 0o777, 0o600);
  assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["push_key.json"]);
  await Deno.chmod(`${folder}/push_key.json`, 0o644);
  await openVapidKey(folder);
  assert.equal((await Deno.stat(`${folder}/push_key.json`)).mode! & 0o777, 0o600);
});

Deno.test("openVapidKey() does not replace what it cannot read", async () => {
  const folder = await Deno.makeTempDir();
  for (const text of ["", "{}", '{"public_key":"x","private_key":"y"}', "[]", "null"]) {
    await Deno.writeTextFile(`${folder}/push_key.json`, text);
    await assert.rejects(openVapidKey(folder), (error: StartError) => {
      assert.equal(error.kind, "storage");
      assert.match(error.message, /backup/);
      return true;
    });
    assert.equal(await Deno.readTextFile(`${folder}/push_key.json`), text);
  }
});
