import assert from "node:assert/strict";
import type { CustosError } from "@custos/core/errors";
import { FileStore } from "./file_store.ts";
import { readRecord, recordText } from "./record_text.ts";
import { withPair } from "./scripted_pair.ts";
import { SoftwareAuthenticator } from "./authenticator.ts";

async function withFolder(use: (dir: string) => Promise<void>): Promise<void> {
  const parent = await Deno.makeTempDir();
  try {
    await use(`${parent}/phone`);
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
}

Deno.test("FileStore keeps a record as it was, in files that only this user can read", async () => {
  await withPair(async ({ phone }) => {
    await withFolder(async (dir) => {
      const store = new FileStore(dir);
      const record = await phone.record();
      await store.create(record);
      await store.keepPasskeys("https://phone.example.test", phone.authenticator);
      assert.deepEqual(await new FileStore(dir).read(record.daemon), record);
      assert.deepEqual(await store.daemons(), [record.daemon]);
      assert.equal(Deno.statSync(dir).mode! & 0o777, 0o700);
      const names = [...Deno.readDirSync(dir)].map(({ name }) => name).sort();
      assert.deepEqual(names, [`daemon-${record.daemon}.json`, "lock", "passkeys.json"]);
      for (const name of names) assert.equal(Deno.statSync(`${dir}/${name}`).mode! & 0o777, 0o600, name);
    });
  });
});

Deno.test("FileStore draws each number once over several stores of one folder", async () => {
  await withPair(async ({ phone }) => {
    await withFolder(async (dir) => {
      const record = await phone.record();
      const stores = [new FileStore(dir), new FileStore(dir), new FileStore(dir)];
      await stores[0]!.create(record);
      const draws = Array.from(
        { length: 30 },
        (_, at) =>
          stores[at % 3]!.update(record.daemon, async (one) => {
            await new Promise((resolve) => setTimeout(resolve, at % 4));
            return [{ ...one, read_after: one.read_after + 1 }, one.read_after] as const;
          }),
      );
      const numbers = (await Promise.all(draws)).sort((a, b) => a - b);
      assert.deepEqual(numbers, numbers.map((_, at) => record.read_after + at));
    });
  });
});

Deno.test("FileStore changes nothing when a change throws, and refuses a second record of one daemon", async () => {
  await withPair(async ({ phone }) => {
    await withFolder(async (dir) => {
      const store = new FileStore(dir);
      const record = await phone.record();
      await store.create(record);
      await assert.rejects(() => store.update(record.daemon, () => Promise.reject(new Error("no"))), /no/);
      await assert.rejects(() => store.create(record), (error) => (error as CustosError).kind === "storage");
      assert.deepEqual(await store.read(record.daemon), record);
      const missing = record.daemon.replace(/^./, record.daemon.startsWith("a") ? "b" : "a");
      const change = () => store.update(missing, (one) => Promise.resolve([one, null] as const));
      await assert.rejects(change, (error) => (error as CustosError).kind === "no_device");
    });
  });
});

Deno.test("FileStore refuses a folder that others can read", async () => {
  await withFolder((dir) => {
    Deno.mkdirSync(dir, { mode: 0o755 });
    Deno.chmodSync(dir, 0o755);
    assert.throws(() => new FileStore(dir), (error) => (error as CustosError).kind === "storage");
    return Promise.resolve();
  });
});

Deno.test("FileStore gives the passkeys back to the page they belong to, and to no other", async () => {
  await withFolder(async (dir) => {
    const store = new FileStore(dir);
    const made = new SoftwareAuthenticator("https://phone.example.test");
    await assert.rejects(() => store.authenticator(), (error) => (error as CustosError).kind === "no_device");
    await store.keepPasskeys("https://phone.example.test", made);
    assert.deepEqual((await store.authenticator()).exportState(), made.exportState());
    await assert.rejects(
      () => store.authenticator("https://evil.test"),
      (error) => (error as CustosError).kind === "no_device",
    );
  });
});

Deno.test("readRecord() refuses what recordText() did not write", async () => {
  await withPair(async ({ phone }) => {
    const text = recordText(await phone.record());
    for (const broken of ["", "{}", "null", text.slice(0, -1), text.replace('"v":1', '"v":2')]) {
      assert.throws(() => readRecord(broken), (error) => (error as CustosError).kind === "storage");
    }
  });
});
