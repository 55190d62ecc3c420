/** Disks that are full, cannot be written, or lie (cases B155, B158, B159, B162). */

import assert from "node:assert/strict";
import { copyFolder } from "../e2e/harness_files.ts";
import { failure } from "../e2e/harness_wait.ts";
import { SHARED, Stage } from "../relay_malice/stage.ts";
import { runOnReadOnlyDisk, startOnFullDisk } from "./disks.ts";
import { between, seeded } from "./random.ts";

/** A stage with a phone and a secret, whose daemon does not run. */
async function settled(): Promise<Stage> {
  const stage = await Stage.open();
  try {
    await stage.startDaemon();
    await stage.settle();
    await stage.daemon!.stop();
    return stage;
  } catch (error) {
    await stage[Symbol.asyncDispose]();
    throw error;
  }
}

/** Starts the daemon, which must not get far. Returns its one error. */
async function refusesToStart(stage: Stage): Promise<string> {
  const error = await stage.startDaemon().then(() => null, (thrown: Error) => thrown.message);
  assert.ok(error !== null, "it started");
  await stage.process!.status;
  return error;
}

Deno.test(
  "on a full disk what cannot be recorded is not sent, and nothing that was there is lost (B155)",
  SHARED,
  async () => {
    await using s = await settled();
    const { size } = await Deno.stat(`${s.values.daemon_dir}/custos.db`);
    await startOnFullDisk(s, Math.ceil(size / 1_024) + 400);
    const { id } = await s.ask("/full", { method: "GET", body: undefined });
    await s.card(id);
    await s.phone!.approve(id, { kind: "path" });
    let sent = 0;
    let refused: { kind: string; message: string } | null = null;
    for (let call = 0; call < 99 && refused === null; call++) {
      const asked = s.http("/full", { method: "GET", body: undefined });
      refused = await asked.then(() => null, () => failure(asked));
      if (refused === null) sent++;
    }
    assert.equal(refused?.kind, "storage");
    assert.match(refused!.message, /disk .* is full or failing, so nothing was done/);
    assert.ok(sent > 0);
    assert.equal(s.api.count("/full"), sent);
    await assert.rejects(s.ask("/full-2"), { kind: "storage" });

    await s.restartDaemon(); // with room again
    const { handles } = await s.client.call("handles.list", {});
    assert.equal(handles.length, 1);
    assert.equal(await s.status(id), "granted");
    await s.verifiedLog();
    await s.recovers("/after-full");
    assert.equal(s.api.count("/full"), sent);
  },
);

Deno.test(
  "on a read-only disk the daemon says so and does not start, and changes nothing (B158)",
  SHARED,
  async () => {
    await using s = await settled();
    const { code, stderr } = await runOnReadOnlyDisk(s);
    assert.equal(code, 1);
    assert.match(stderr, /(could not be made|cannot be opened|cannot be written|could not read or write)/);
    await s.startDaemon();
    await s.recovers("/after-read-only");
  },
);

Deno.test(
  "a database with a corrupt page is refused in the same words each time, and never repaired into another (B159)",
  SHARED,
  async () => {
    await using s = await settled();
    const path = `${s.values.daemon_dir}/custos.db`;
    const good = await Deno.readFile(path);
    const random = seeded(7);
    const words = new Set<string>();
    for (let i = 0; i < 2; i++) {
      const bad = good.slice();
      const page = between(random, 1, Math.floor(bad.length / 4_096) - 1);
      crypto.getRandomValues(bad.subarray(page * 4_096, (page + 1) * 4_096));
      await Deno.writeFile(path, bad);
      const before = await filesOf(s);
      for (let start = 0; start < 2; start++) words.add((await refusesToStart(s)).split("\n").at(-2)!);
      assert.deepEqual(await filesOf(s), before, "no copy, and not one byte changed");
    }
    for (const said of words) {
      assert.match(
        said,
        /damaged|cannot be opened|does not verify|not the one that was signed|missing/,
      );
    }
    await Deno.writeFile(path, good);
    await s.startDaemon();
    await s.recovers("/after-corrupt");
  },
);

async function filesOf({ values }: Stage): Promise<[string, number][]> {
  const files: [string, number][] = [];
  for await (const { name } of Deno.readDir(values.daemon_dir)) {
    const path = `${values.daemon_dir}/${name}`;
    const bytes = name.endsWith(".db") ? await Deno.readFile(path) : new Uint8Array(0);
    files.push([name, bytes.reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7)]);
  }
  return files.sort();
}

Deno.test(
  "after a torn write the daemon starts on what is whole, and nothing is sent again",
  SHARED,
  async () => {
    await using s = await settled();
    await s.startDaemon();
    const { id } = await s.ask("/torn");
    await s.approve(id);
    assert.equal((await s.http("/torn")).status_code, 200);
    await s.daemon!.stop("SIGKILL");
    const torn = `${s.folder}/torn`;
    await copyFolder(s.values.daemon_dir, torn);
    const wal = await Deno.readFile(`${torn}/custos.db-wal`);
    assert.ok(wal.length > 4_096, "something is only in the log of writes");
    const random = seeded(11);
    for (let i = 0; i < 4; i++) {
      await Deno.remove(s.values.daemon_dir, { recursive: true });
      await copyFolder(torn, s.values.daemon_dir);
      // The last cut is anywhere; the others are in the last write, which is where power fails.
      const length = i === 3 ? between(random, 0, wal.length) : wal.length - between(random, 1, 4_096);
      await Deno.truncate(`${s.values.daemon_dir}/custos.db-wal`, length);
      await s.startDaemon();
      const { handles } = await s.client.call("handles.list", {});
      assert.deepEqual(handles.map(({ name }) => name), ["demo-key"]);
      await s.verifiedLog();
      assert.equal((await s.client.call("grants.list", {})).grants.length, 0);
      const again = await failure(s.http("/torn"));
      assert.equal(again.kind, "needs_approval");
      assert.equal(s.api.count("/torn"), 1);
      await s.daemon!.stop("SIGKILL");
    }
  },
);

Deno.test(
  "a phone notices that an old copy of the database was put back, and approves nothing more",
  SHARED,
  async () => {
    await using s = await settled();
    const old = `${s.folder}/old`;
    await copyFolder(s.values.daemon_dir, old);
    await s.startDaemon();
    await s.recovers("/before-restore");
    await s.restartDaemon("SIGTERM");
    await s.recovers("/before-restore-2");
    await s.daemon!.stop();
    await Deno.remove(s.values.daemon_dir, { recursive: true });
    await copyFolder(old, s.values.daemon_dir);
    await s.startDaemon();
    const noticed = async () => {
      const { channel, alarm } = await s.phone!.record();
      return channel.locked ?? alarm;
    };
    assert.equal(await s.phone!.when(noticed, 15_000), "superseded_handshake");
    await assert.rejects(s.phone!.lock(), { kind: "locked", message: /Two daemons claim/ });
    const { id } = await s.ask("/after-restore");
    assert.equal(await s.status(id), "pending");
    assert.equal(s.api.count("/after-restore"), 0);
  },
);
