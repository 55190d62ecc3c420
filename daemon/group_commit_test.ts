import assert from "node:assert/strict";
import { CustosError } from "@custos/core/errors";
import { Database } from "./database.ts";
import { withState } from "./testdata/state.ts";

/** Adds a row and says how many there are then; the same key twice fails. */
function insert(db: Database, key: string): () => number {
  return () => {
    db.run("INSERT INTO meta (key, value) VALUES (?, x'00')", key);
    return Number(db.get("SELECT count(*) AS n FROM meta WHERE key LIKE 'test-%'")!["n"]);
  };
}

function keys(db: Database): string[] {
  return db.all("SELECT key FROM meta WHERE key LIKE 'test-%' ORDER BY key").map((row) => String(row["key"]));
}

/** Counts transactions. */
function countCommits(db: Database): () => number {
  let count = 0;
  const transaction = db.transaction.bind(db);
  db.transaction = (work) => {
    count++;
    return transaction(work);
  };
  return () => count;
}

const isStorage = (error: unknown) => error instanceof CustosError && error.kind === "storage";

Deno.test("GroupCommit.add() shares one transaction among what waits in one turn, in the order of the calls", () =>
  withState(async ({ db }) => {
    const commits = countCommits(db);
    const results = await Promise.all(
      ["test-a", "test-b", "test-c"].map((key) => db.group.add(insert(db, key))),
    );
    assert.deepEqual(results, [1, 2, 3]);
    assert.equal(commits(), 1);
    await db.group.add(insert(db, "test-d"));
    assert.equal(commits(), 2, "what comes later has a transaction of its own");
  }));

Deno.test("GroupCommit.add() resolves only when another reader of the file can see the work", () =>
  withState(async ({ db, folder }) => {
    let settled = false;
    const added = db.group.add(insert(db, "test-a")).then(() => settled = true);
    await Promise.resolve();
    assert.deepEqual([settled, keys(db)], [false, []], "nothing happens in the turn of the call");
    await added;
    // what a crash right now would leave: a copy of the files as they are
    const copy = `${folder}-copy`;
    Deno.mkdirSync(copy, { mode: 0o700 });
    for (const name of ["custos.db", "custos.db-wal"]) {
      Deno.copyFileSync(`${folder}/${name}`, `${copy}/${name}`);
    }
    const after = Database.open(copy);
    assert.deepEqual(keys(after), ["test-a"]);
    after.close();
  }));

Deno.test("GroupCommit.add() leaves nothing on disk, and resolves nothing, when the daemon dies before the commit", () =>
  withState(async ({ db, folder }) => {
    let settled = false;
    const added = db.group.add(insert(db, "test-a")).then(() => settled = true);
    const copy = `${folder}-copy`; // what a crash right now would leave
    Deno.mkdirSync(copy, { mode: 0o700 });
    for (const name of ["custos.db", "custos.db-wal"]) {
      Deno.copyFileSync(`${folder}/${name}`, `${copy}/${name}`);
    }
    const after = Database.open(copy);
    assert.deepEqual([settled, keys(after)], [false, []]);
    after.close();
    await added;
  }));

Deno.test("GroupCommit.add() rejects a work that throws with its own error, and carries the others out once", () =>
  withState(async ({ db }) => {
    let undone = 0;
    let kept = 0;
    const refusal = new CustosError("needs_approval", "used up");
    const outcomes = await Promise.allSettled([
      db.group.add(insert(db, "test-a"), () => kept--),
      db.group.add(() => {
        insert(db, "test-half")();
        throw refusal;
      }, () => undone++),
      db.group.add(insert(db, "test-b")),
    ]);
    assert.deepEqual(outcomes.map((outcome) => outcome.status), ["fulfilled", "rejected", "fulfilled"]);
    assert.equal((outcomes[1] as PromiseRejectedResult).reason, refusal);
    assert.deepEqual(keys(db), ["test-a", "test-b"], "what the refused work had written is gone");
    assert.deepEqual([undone, kept], [1, -1], "what ran before it was put back, and ran again");
  }));

Deno.test("GroupCommit.add() rejects the whole group with storage where the disk fails, and puts back each change", () =>
  withState(async ({ db }) => {
    let uses = 3;
    const consume = (key: string) =>
      db.group.add(() => {
        uses--;
        return insert(db, key)();
      }, () => uses++);
    db.run("INSERT INTO meta (key, value) VALUES ('test-b', x'00')");
    const outcomes = await Promise.allSettled([
      consume("test-a"),
      consume("test-b"),
      db.group.add(insert(db, "test-c")),
    ]);
    for (const outcome of outcomes) assert.ok(outcome.status === "rejected" && isStorage(outcome.reason));
    assert.equal(uses, 3);
    assert.deepEqual(keys(db), ["test-b"]);
  }));

Deno.test("GroupCommit.add() rejects with storage where the commit itself fails, before anybody is told", () =>
  withState(async ({ db }) => {
    let uses = 1;
    const run = db.run.bind(db);
    db.run = (sql, ...values) => {
      if (sql === "COMMIT") throw new CustosError("storage", "the disk is full");
      return run(sql, ...values);
    };
    const added = db.group.add(() => uses--, () => uses++);
    await assert.rejects(added, isStorage);
    db.run = run;
    assert.equal(uses, 1);
    assert.deepEqual(await db.group.add(insert(db, "test-a")), 1, "the next group is as good as ever");
  }));

Deno.test("GroupCommit.addLater() goes with the next group, and by itself where none comes", () =>
  withState(async ({ db }) => {
    const commits = countCommits(db);
    const later = db.group.addLater(insert(db, "test-a"));
    assert.equal(await db.group.add(insert(db, "test-b")), 2);
    await later;
    assert.equal(commits(), 1);
    await db.group.addLater(insert(db, "test-c"));
    assert.deepEqual(keys(db), ["test-a", "test-b", "test-c"]);
  }));

Deno.test("GroupCommit.flush() writes what waits at once; Database.close() does it too", () =>
  withState(async ({ db, folder }) => {
    const first = db.group.addLater(insert(db, "test-a"));
    db.group.flush();
    assert.deepEqual(keys(db), ["test-a"]);
    await first;
    const other = Database.open(`${folder}-other`);
    const last = other.group.addLater(insert(other, "test-b"));
    other.close();
    await last;
    const again = Database.open(`${folder}-other`);
    assert.deepEqual(keys(again), ["test-b"]);
    again.close();
  }));
