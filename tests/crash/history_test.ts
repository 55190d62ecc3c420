/**
 * Somebody who can write the database changes what happened (DESIGN §6.5, case B162). Each change is noticed, by the daemon at its
 * start, by whoever verifies the log, or by the phone, and nothing is approved on top of it.
 */

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { copyFolder } from "../e2e/harness_files.ts";
import { SHARED, Stage } from "../relay_malice/stage.ts";

/** Starts a custos with a past, and ends its daemon. */
async function past(): Promise<Stage> {
  const s = await Stage.open();
  await s.startDaemon();
  await s.settle();
  await s.dropSecret("other-key", "another secret value");
  await s.recovers("/history");
  await s.phone!.sync(10_000);
  await s.daemon!.stop();
  return s;
}

function tamper({ values }: Stage, sql: string): void {
  const db = new DatabaseSync(`${values.daemon_dir}/custos.db`);
  db.exec(sql);
  db.close();
}

const AT_START: [name: string, sql: string, says: RegExp][] = [
  ["an audit log whose end was cut off", "DELETE FROM audit WHERE seq > 5", /audit log is shorter/],
  [
    "a policy log without its last entry",
    "DELETE FROM policy_log WHERE seq = (SELECT max(seq) FROM policy_log)",
    /policy log|signed|missing/,
  ],
  [
    "a policy log of which an entry was taken out",
    "DELETE FROM policy_log WHERE seq = 1",
    /policy log does not verify/,
  ],
  [
    "a secret whose ciphertext is another one",
    "UPDATE secrets SET age_file = (SELECT age_file FROM secrets WHERE name = 'other-key')",
    /is not the one that was signed/,
  ],
  ["a secret that was taken out", "DELETE FROM secrets WHERE name = 'demo-key'", /is missing/],
];

Deno.test(
  "a daemon does not start on logs or secrets that are not what was signed (B162)",
  SHARED,
  async (t) => {
    await using s = await past();
    await copyFolder(s.values.daemon_dir, `${s.folder}/good`);
    for (const [name, sql, says] of AT_START) {
      await t.step(name, async () => {
        tamper(s, sql);
        await assert.rejects(s.startDaemon(), (error: Error) => says.test(error.message));
        await s.process!.status;
        await Deno.remove(s.values.daemon_dir, { recursive: true });
        await copyFolder(`${s.folder}/good`, s.values.daemon_dir);
      });
    }
    await s.startDaemon();
    await s.recovers("/after-history");
  },
);

const BY_VERIFYING: [name: string, sql: string][] = [
  [
    "an entry of the audit log that was rewritten",
    "UPDATE audit SET leaf = CAST(replace(CAST(leaf AS TEXT), 'granted', 'expired') AS BLOB)",
  ],
  [
    "two entries of the audit log that changed places",
    "UPDATE audit SET seq = -1 WHERE seq = 3; UPDATE audit SET seq = 3 WHERE seq = 4; " +
    "UPDATE audit SET seq = 4 WHERE seq = -1",
  ],
];

for (const [name, sql] of BY_VERIFYING) {
  Deno.test(`${name}: the log no longer verifies (B162)`, SHARED, async () => {
    await using s = await past();
    tamper(s, sql);
    await s.startDaemon();
    await assert.rejects(s.verifiedLog(), /does not verify/);
  });
}

Deno.test(
  "an audit log that was cut off with the checkpoints that covered it: the phone knows better (B162)",
  SHARED,
  async () => {
    await using s = await past();
    tamper(s, "DELETE FROM audit WHERE seq > 5; DELETE FROM checkpoints WHERE size > 6");
    await s.startDaemon();
    const alarm = async () => (await s.phone!.record()).alarm;
    assert.equal(await s.phone!.when(alarm, 15_000), "audit_log_cut");
    await assert.rejects(s.phone!.lock(), { kind: "locked" });
  },
);
