import assert from "node:assert/strict";
import { SqliteStore } from "./sqlite_store.ts";
import { StartError } from "./start_error.ts";
import { testStore } from "./store_contract.ts";

const ID = "a".repeat(26);
const HASHES = { read_hash: "r".repeat(42) + "A", write_hash: "w".repeat(42) + "A" };
const modeOf = (path: string) => (Deno.statSync(path).mode! & 0o777).toString(8);

function withFolder(body: (folder: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const parent = await Deno.makeTempDir();
    try {
      await body(`${parent}/relay`);
    } finally {
      await Deno.remove(parent, { recursive: true });
    }
  };
}

testStore("SqliteStore", (limits, now) => {
  const parent = Deno.makeTempDirSync();
  const store = new SqliteStore(`${parent}/relay`, { limits, now });
  return { store, discard: () => Deno.removeSync(parent, { recursive: true }) };
});

Deno.test(
  "SqliteStore makes its folder 0700 and every file in it 0600",
  withFolder(async (folder) => {
    const store = new SqliteStore(folder);
    await store.putMailbox(ID, HASHES);
    assert.equal(modeOf(folder), "700");
    const files = [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();
    assert.deepEqual(files, ["relay.db", "relay.db-wal"]);
    for (const file of files) assert.equal(modeOf(`${folder}/${file}`), "600", file);
    store.close();
  }),
);

Deno.test(
  "SqliteStore keeps everything when it is opened again",
  withFolder(async (folder) => {
    const first = new SqliteStore(folder);
    await first.putMailbox(ID, HASHES);
    await first.append(ID, Uint8Array.of(1), 60_000);
    await first.putPush(ID, "{}");
    const before = first.read(ID, 0);
    first.close();
    const again = new SqliteStore(folder);
    assert.deepEqual(again.read(ID, 0), before);
    assert.equal(again.push(ID), "{}");
    assert.equal(await again.putMailbox(ID, HASHES), "same");
    again.close();
  }),
);

Deno.test(
  "SqliteStore has on disk what it has answered for, even if it is never closed",
  withFolder(async (folder) => {
    const store = new SqliteStore(folder);
    await store.putMailbox(ID, HASHES);
    await store.append(ID, Uint8Array.of(1), 60_000);
    const copy = `${folder}-copy`;
    Deno.mkdirSync(copy, { mode: 0o700 });
    for (const { name } of Deno.readDirSync(folder)) {
      Deno.copyFileSync(`${folder}/${name}`, `${copy}/${name}`);
    }
    const after = new SqliteStore(copy);
    assert.deepEqual(after.read(ID, 0)?.map((message) => message.data), [Uint8Array.of(1)]);
    after.close();
    store.close();
  }),
);

Deno.test(
  "SqliteStore.close() finishes what was begun",
  withFolder(async (folder) => {
    const store = new SqliteStore(folder);
    const made = store.putMailbox(ID, HASHES);
    store.close();
    assert.equal(await made, "created");
    store.close(); // a second time is nothing
    await assert.rejects(store.putMailbox(ID, HASHES));
    const again = new SqliteStore(folder);
    assert.deepEqual(again.mailbox(ID), HASHES);
    again.close();
  }),
);

Deno.test(
  "SqliteStore rejects every change of a commit that fails, and goes on",
  withFolder(async (folder) => {
    let now = 1_800_000_000_000;
    const store = new SqliteStore(folder, { now: () => now });
    await store.putMailbox(ID, HASHES);
    const good = store.append(ID, Uint8Array.of(1), 1000);
    const bad = store.append(ID, "not bytes" as never, 1000); // a STRICT table refuses it
    await assert.rejects(good);
    await assert.rejects(bad);
    assert.deepEqual(store.read(ID, 0), []);
    now += 1;
    assert.equal((await store.append(ID, Uint8Array.of(2), 1000)).kind, "stored");
    store.close();
  }),
);

const REFUSED: [string, (folder: string) => void, RegExp][] = [
  ["a folder that others can open", (folder) => Deno.mkdirSync(folder, { mode: 0o755 }), /chmod 700/],
  ["a folder that another relay uses", (folder) => held.push(new SqliteStore(folder)), /Another relay/],
  ["a file in the folder's place", (folder) => Deno.writeTextFileSync(folder, ""), /cannot be used/],
  ["a file that is no database", (folder) => {
    Deno.mkdirSync(folder, { mode: 0o700 });
    Deno.writeTextFileSync(`${folder}/relay.db`, "not a database ".repeat(100));
  }, /move it away/],
  ["a database of another version", (folder) => {
    new SqliteStore(folder).close();
    const file = Deno.openSync(`${folder}/relay.db`, { write: true });
    file.seekSync(60, Deno.SeekMode.Start); // SQLite's file format §1.3: the user version
    file.writeSync(Uint8Array.of(0, 0, 0, 99));
    file.close();
  }, /another version/],
];
const held: SqliteStore[] = [];

for (const [what, prepare, reason] of REFUSED) {
  Deno.test(
    `SqliteStore refuses ${what}, with a reason`,
    withFolder((folder) => {
      prepare(folder);
      const refused = (error: unknown) =>
        error instanceof StartError && error.kind === "storage" && error.exitCode === 5 &&
        reason.test(error.message);
      assert.throws(() => new SqliteStore(folder), refused);
      while (held.length > 0) held.pop()!.close();
      return Promise.resolve();
    }),
  );
}
