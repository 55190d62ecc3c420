import assert from "node:assert/strict";
import { CustosError } from "@custos/core/errors";
import { Database } from "./database.ts";
import { loadIdentity } from "./identity.ts";
import { withState } from "./testdata/state.ts";

Deno.test("Database.open() refuses a second daemon on the same state (B182)", () =>
  withState(({ folder }) => {
    assert.throws(
      () => Database.open(folder),
      (error) => error instanceof CustosError && error.kind === "locked",
    );
  }));

Deno.test("Database.open() makes the folder 0700 and every file 0600 under any umask (B173)", () =>
  withState(({ folder }) => {
    assert.equal(Deno.statSync(folder).mode! & 0o777, 0o700);
    const files = [...Deno.readDirSync(folder)];
    assert.ok(
      files.some(({ name }) => name.endsWith("-wal")),
      "the write-ahead log is there while the daemon runs",
    );
    for (const { name } of files) assert.equal(Deno.statSync(`${folder}/${name}`).mode! & 0o777, 0o600, name);
  }));

Deno.test("Database.open() refuses a folder that others can enter, and leaves it as it is (B174)", async () => {
  const folder = await Deno.makeTempDir();
  try {
    Deno.chmodSync(folder, 0o755);
    assert.throws(
      () => Database.open(folder),
      (error) => error instanceof CustosError && error.kind === "storage",
    );
    assert.equal(Deno.statSync(folder).mode! & 0o777, 0o755);
    assert.deepEqual([...Deno.readDirSync(folder)], []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("Database.open() refuses a damaged database and changes nothing in it (B159)", async () => {
  const folder = `${await Deno.makeTempDir()}/state`;
  Database.open(folder).close();
  const path = `${folder}/custos.db`;
  const before = Deno.readFileSync(path);
  before.fill(0x5a, 4096, 8192);
  Deno.writeFileSync(path, before);
  for (let start = 0; start < 3; start++) {
    assert.throws(
      () => Database.open(folder),
      (error) => error instanceof CustosError && error.kind === "storage",
    );
  }
  assert.deepEqual(Deno.readFileSync(path), before);
  assert.deepEqual(
    [...Deno.readDirSync(folder)].filter(({ name }) => !/^custos\.db(-wal|-shm)?$/.test(name)),
    [],
  );
  await Deno.remove(folder.slice(0, folder.lastIndexOf("/")), { recursive: true });
});

Deno.test("Database.transaction() undoes everything when a part of it fails", () =>
  withState(({ db }) => {
    assert.throws(() =>
      db.transaction(() => {
        db.run("INSERT INTO meta (key, value) VALUES ('a', x'01')");
        db.transaction(() => db.run("INSERT INTO meta (key, value) VALUES ('a', x'02')"));
      })
    );
    assert.equal(db.get("SELECT 1 FROM meta WHERE key = 'a'"), undefined);
  }));

Deno.test("Database.run() says storage, without the text of SQLite", () =>
  withState(({ db }) => {
    assert.throws(
      () => db.run("INSERT INTO meta (key, value) VALUES ('identity', x'00')"),
      (error) =>
        error instanceof CustosError && error.kind === "storage" && !/UNIQUE|meta/.test(error.message),
    );
  }));

Deno.test("loadIdentity() draws once and gives the same identity at the next start", async () => {
  const folder = `${await Deno.makeTempDir()}/state`;
  let db = Database.open(folder);
  const first = await loadIdentity(db, "one name");
  db.close();
  db = Database.open(folder);
  const second = await loadIdentity(db, "another name");
  db.close();
  assert.equal(second.daemon, first.daemon);
  assert.equal(second.name, "one name");
  assert.deepEqual(second.words_key, first.words_key);
  await Deno.remove(folder.slice(0, folder.lastIndexOf("/")), { recursive: true });
});

Deno.test("loadIdentity() never draws a new key over old data", () =>
  withState(async ({ db }) => {
    db.run("DELETE FROM meta WHERE key = 'identity'");
    db.run("INSERT INTO policy_log (seq, hash, record) VALUES (0, 'h', '{}')");
    await assert.rejects(loadIdentity(db, "x"), (error) =>
      error instanceof CustosError && error.kind === "storage");
  }));
