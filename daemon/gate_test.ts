import assert from "node:assert/strict";
import { readLeaf } from "@custos/core/audit";
import { randomBytes, toBase64url } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import type { Grant } from "@custos/core/grant";
import { newId } from "@custos/core/ids";
import { parseTarget } from "@custos/core/target";
import { AuditLog } from "./audit_log.ts";
import type { Cells } from "./cells.ts";
import { Database } from "./database.ts";
import { memoryBody } from "./fixed_body.ts";
import { Gate, type Outgoing } from "./gate.ts";
import { deadlines, Grants, type LiveGrant } from "./grants.ts";
import type { StoredSecret } from "./policy_store.ts";
import { type TestState, withState } from "./testdata/state.ts";

const HASH = toBase64url(new Uint8Array(32));
const ORIGIN = "https://api.example.test";

/** A gate whose cells send nothing, and look at what they find when they are asked to. */
interface Stage {
  gate: Gate;
  audit: AuditLog;
  grants: Grants;
  live: LiveGrant;
  outgoing: Outgoing;
  /** How often a cell was asked for, which is the moment before the secret is used. */
  acquired: () => number;
}

async function stage({ db, identity }: TestState, uses: number, onAcquire = () => {}): Promise<Stage> {
  const audit = AuditLog.open(db, identity);
  const grants = new Grants(db);
  let acquired = 0;
  const cells = {
    acquire: () => {
      acquired++;
      onAcquire();
      return Promise.reject(new CustosError("upstream_unreachable", "There is no network in this test."));
    },
    settle: () => {},
  } as unknown as Cells;
  const grant: Grant = {
    grant_id: newId(),
    request_hash: HASH,
    secret_id: newId(),
    policy_hash: HASH,
    agent: "a",
    scope: { origins: [ORIGIN], methods: ["GET"], path_prefix: "/" },
    seconds: 60,
    max_uses: uses,
  };
  const live: LiveGrant = {
    grant,
    request_id: newId(),
    fingerprint: "abacus abdomen able",
    name: "demo",
    file_key: randomBytes(16),
    uses_left: uses,
    ...deadlines(60),
  };
  grants.record(live);
  grants.add(live);
  const outgoing: Outgoing = {
    secret: { secret_id: grant.secret_id, name: "demo", policy_hash: HASH } as StoredSecret,
    target: parseTarget("GET", `${ORIGIN}/v1/x`),
    headers: [],
    body: await memoryBody(new Uint8Array(0)),
    use: { agent: "a", origin: ORIGIN, method: "GET", path: "/v1/x" },
    contentSha256: () => Promise.resolve(HASH),
  };
  return {
    gate: new Gate(db, audit, grants, cells),
    audit,
    grants,
    live,
    outgoing,
    acquired: () => acquired,
  };
}

function events(audit: AuditLog): string[] {
  return audit.read(0, 100).map(({ leaf }) => readLeaf(leaf).event);
}

const options = { signal: new AbortController().signal, max_bytes: 1_000 };

function kindIs(kind: string): (error: unknown) => boolean {
  return (error) => error instanceof CustosError && error.kind === kind && error.request !== null;
}

Deno.test("Gate.send() asks for a cell only when the intent would survive a crash", () =>
  withState(async (state) => {
    const found: unknown[] = [];
    const { gate, outgoing, live, acquired } = await stage(state, 2, () => {
      const copy = `${state.folder}-copy`;
      Deno.mkdirSync(copy, { mode: 0o700 });
      for (const name of ["custos.db", "custos.db-wal"]) {
        Deno.copyFileSync(`${state.folder}/${name}`, `${copy}/${name}`);
      }
      const after = Database.open(copy);
      found.push(
        after.get("SELECT state FROM sends")?.["state"],
        after.get("SELECT count(*) AS n FROM audit")!["n"],
      );
      found.push(after.get("SELECT uses_left FROM grants")!["uses_left"]);
      after.close();
    });
    await assert.rejects(gate.send(outgoing, live, options), kindIs("upstream_unreachable"));
    assert.deepEqual(found, ["started", 1, 1]);
    assert.equal(acquired(), 1);
  }));

Deno.test("Gate.send() sends nothing and gives the use back where the commit fails", () =>
  withState(async (state) => {
    const { gate, audit, outgoing, live, acquired } = await stage(state, 2);
    const { db } = state;
    const run = db.run.bind(db);
    db.run = (sql, ...values) => {
      if (sql === "COMMIT") throw new CustosError("storage", "the disk is full");
      return run(sql, ...values);
    };
    const sends = [gate.send(outgoing, live, options), gate.send(outgoing, live, options)];
    for (const send of sends) await assert.rejects(send, kindIs("storage"));
    db.run = run;
    assert.deepEqual([acquired(), live.uses_left, events(audit)], [0, 2, []]);
  }));

Deno.test("Gate.send() lets exactly as many of 32 calls at once through as the grant has uses", () =>
  withState(async (state) => {
    for (const uses of [1, 3]) {
      const { gate, outgoing, live, acquired } = await stage(state, uses);
      const sends = Array.from({ length: 32 }, () => gate.send(outgoing, live, options));
      const kinds = (await Promise.allSettled(sends)).map((one) =>
        (one as PromiseRejectedResult).reason.kind
      );
      assert.equal(kinds.filter((kind) => kind === "upstream_unreachable").length, uses);
      assert.equal(kinds.filter((kind) => kind === "needs_approval").length, 32 - uses);
      assert.equal(acquired(), uses);
    }
  }));

Deno.test("Gate.send() uses no key of a grant that was taken back while its intent was written", () =>
  withState(async (state) => {
    for (const why of ["revoked", "locked", "denied_later", "policy_changed", "daemon_stopped"] as const) {
      const { gate, grants, outgoing, live, acquired } = await stage(state, 2);
      const { group } = state.db;
      const add = group.add.bind(group);
      group.add = async (work, undo) => {
        const result = await add(work, undo);
        grants.end(() => true, why);
        return result;
      };
      await assert.rejects(gate.send(outgoing, live, options), kindIs("needs_approval"), why);
      group.add = add;
      assert.equal(acquired(), 0, why);
    }
  }));
