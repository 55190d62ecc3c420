import assert from "node:assert/strict";
import { verifyLog } from "@custos/core/audit";
import { logOrigin } from "@custos/core/checkpoint";
import { AuditLog } from "./audit_log.ts";
import { withState } from "./testdata/state.ts";

Deno.test("AuditLog.checkpoint() signs exactly what was written, and verifyLog() agrees", () =>
  withState(async ({ db, identity }) => {
    const log = AuditLog.open(db, identity);
    for (let i = 0; i < 7; i++) {
      log.write({ event: "request_refused", why: `reason ${i}\n{"event":"granted"}` });
    }
    const { note, size } = await log.checkpoint();
    const leaves = log.read(0, 100).map(({ leaf }) => leaf);
    assert.equal(size, 7);
    const origin = logOrigin(identity.daemon);
    assert.deepEqual(await verifyLog(leaves, note, origin, identity.audit_public), { ok: true, size: 7 });
    assert.equal((await verifyLog(leaves.slice(0, -1), note, origin, identity.audit_public)).ok, false);
  }));

Deno.test("AuditLog.open() continues the tree of the run before", () =>
  withState(async ({ db, identity }) => {
    const first = AuditLog.open(db, identity);
    for (let i = 0; i < 5; i++) first.write({ event: "daemon_started" });
    await first.checkpoint();
    first.write({ event: "daemon_stopped" });
    const second = AuditLog.open(db, identity);
    for (let i = 0; i < 4; i++) second.write({ event: "daemon_started" });
    const { note } = await second.checkpoint();
    const leaves = second.read(0, 100).map(({ leaf }) => leaf);
    const verdict = await verifyLog(leaves, note, logOrigin(identity.daemon), identity.audit_public);
    assert.deepEqual(verdict, { ok: true, size: 10 });
  }));

Deno.test("AuditLog.write() in a transaction that fails leaves no entry", () =>
  withState(({ db, identity }) => {
    const log = AuditLog.open(db, identity);
    assert.throws(() =>
      db.transaction(() => {
        log.write({ event: "granted" });
        throw new Error("the disk is full");
      })
    );
    assert.equal(log.size, 0);
  }));

Deno.test("AuditLog.gaveOut() knows the heads that it signed, and no other", () =>
  withState(async ({ db, identity }) => {
    const log = AuditLog.open(db, identity);
    log.write({ event: "daemon_started" });
    const { size, root } = await log.checkpoint();
    const rows = [
      [{ size: 0, head: null }, true],
      [{ size, head: root }, true],
      [{ size: 1, head: null }, false],
      [{ size: 2, head: root }, false],
      [{ size, head: root.replace(/^./, (c) => c === "A" ? "B" : "A") }, false],
    ] as const;
    for (const [head, expected] of rows) assert.equal(log.gaveOut(head), expected, JSON.stringify(head));
  }));

Deno.test("AuditLog.checkpoint() called at the same time twice signs one tree", () =>
  withState(async ({ db, identity }) => {
    const log = AuditLog.open(db, identity);
    for (let i = 0; i < 50; i++) log.write({ event: "daemon_started" });
    const [a, b] = await Promise.all([log.checkpoint(), log.checkpoint()]);
    assert.equal(a.root, b.root);
    assert.equal(a.size, 50);
  }));
