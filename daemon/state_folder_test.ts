import assert from "node:assert/strict";
import { ensurePrivateFolder, foreignOwner } from "./state_folder.ts";

Deno.test("foreignOwner() refuses a folder of another user, root's process included (B180)", () => {
  const rows: [number | null, number | null, boolean][] = [
    [1000, 1000, false],
    [0, 0, false],
    [null, 1000, false], // a system that has no owners
    [1000, null, false],
    [1000, 0, true],
    [0, 1000, true],
    [1001, 1000, true],
  ];
  for (const [folder, own, refused] of rows) {
    const why = foreignOwner(folder, own);
    assert.equal(why !== null, refused, `${folder} ${own}`);
    if (refused) assert.match(why!, /belongs to the user with the number \d+, and this is (?:root|the user)/);
  }
});

Deno.test("ensurePrivateFolder() leaves nothing in a folder, and refuses one that it cannot write to (B158, B180)", async () => {
  const top = await Deno.makeTempDir();
  ensurePrivateFolder(`${top}/a/b`);
  ensurePrivateFolder(`${top}/a/b`);
  assert.deepEqual([...Deno.readDirSync(`${top}/a/b`)], []);
  assert.equal((Deno.statSync(`${top}/a/b`).mode ?? 0) & 0o777, 0o700);
  Deno.writeTextFileSync(`${top}/file`, "");
  assert.throws(() => ensurePrivateFolder(`${top}/file`), { kind: "storage" });
  assert.throws(() => ensurePrivateFolder("/proc/self/fdinfo/x"), { kind: "storage" });
  await Deno.remove(top, { recursive: true });
});
