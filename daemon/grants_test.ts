import assert from "node:assert/strict";
import { randomBytes, toBase64url } from "@custos/core/bytes";
import type { Grant, Use } from "@custos/core/grant";
import { newId } from "@custos/core/ids";
import { deadlines, type GrantEnd, Grants, type LiveGrant } from "./grants.ts";
import { withState } from "./testdata/state.ts";

const hash = toBase64url(new Uint8Array(32));
const use: Use = {
  agent: "a",
  origin: "https://api.example.test",
  method: "GET",
  path: "/v1/x",
  content_sha256: hash,
};

function grantOf(change: Partial<Grant> = {}): Grant {
  return {
    grant_id: newId(),
    request_hash: hash,
    secret_id: "s",
    policy_hash: hash,
    agent: "a",
    scope: { origins: ["https://api.example.test"], methods: ["GET"], path: "/v1/x" },
    seconds: 60,
    max_uses: 2,
    ...change,
  };
}

function liveOf(grant: Grant, seconds = grant.seconds): LiveGrant {
  return {
    grant,
    request_id: newId(),
    fingerprint: "abacus abdomen able",
    name: "demo",
    file_key: randomBytes(16),
    uses_left: grant.max_uses,
    ...deadlines(seconds),
  };
}

function added(grants: Grants, live: LiveGrant): LiveGrant {
  grants.record(live);
  grants.add(live);
  return live;
}

Deno.test("Grants.find() finds what covers a use, the narrowest first", () =>
  withState(({ db }) => {
    const grants = new Grants(db);
    const wide = added(grants, liveOf(grantOf()));
    assert.equal(grants.find("s", use), wide);
    const once = added(
      grants,
      liveOf(grantOf({ max_uses: 1, scope: { ...wide.grant.scope, content_sha256: hash } })),
    );
    assert.equal(grants.find("s", use), once);
    for (
      const change of [{ agent: "b" }, { agent: null }, { method: "POST" }, { path: "/v1/xy" }, {
        origin: "https://x.test",
      }]
    ) {
      assert.equal(grants.find("s", { ...use, ...change }), undefined, JSON.stringify(change));
    }
    assert.equal(grants.find("another secret", use), undefined);
  }));

Deno.test("Grants.find() never finds a grant whose time is over, by either clock (B165)", () =>
  withState(({ db }) => {
    const rows: Partial<LiveGrant>[] = [{ wall_deadline_ms: Date.now() - 1 }, {
      monotonic_deadline_ms: performance.now() - 1,
    }];
    for (const over of rows) {
      const grants = new Grants(db);
      const live = added(grants, { ...liveOf(grantOf()), ...over });
      assert.equal(grants.isLive(live), false);
      assert.equal(grants.find("s", use), undefined);
      assert.equal(grants.viewOfRequest(live.request_id)?.ended, true);
    }
  }));

Deno.test("Grants.consume() gives exactly as many uses as were signed", () =>
  withState(({ db }) => {
    const grants = new Grants(db);
    const live = added(grants, liveOf(grantOf({ max_uses: 3 })));
    const taken = Array.from({ length: 10 }, () => grants.consume(live));
    assert.equal(taken.filter(Boolean).length, 3);
  }));

Deno.test("Grants.end() wipes the key, tells why, and keeps the text", () =>
  withState(({ db }) => {
    const grants = new Grants(db);
    const ends: GrantEnd[] = [];
    grants.onEnd((_live, why) => ends.push(why));
    const live = added(grants, liveOf(grantOf()));
    assert.equal(grants.end(() => true, "revoked"), 1);
    assert.deepEqual(live.file_key, new Uint8Array(16));
    assert.deepEqual(ends, ["revoked"]);
    assert.equal(grants.consume(live), false);
    assert.equal(grants.viewOfRequest(live.request_id)?.ended, true);
  }));

Deno.test("Grants of an earlier run are ended at start, because their keys are gone", () =>
  withState(({ db }) => {
    const live = added(new Grants(db), liveOf(grantOf()));
    const next = new Grants(db);
    assert.equal(next.viewOfRequest(live.request_id)?.ended, true);
    assert.deepEqual(next.all(), []);
  }));

Deno.test("Grants never write a file key to the database", () =>
  withState(({ db, folder }) => {
    const live = added(new Grants(db), liveOf(grantOf()));
    const key = toBase64url(live.file_key);
    for (const { name } of Deno.readDirSync(folder)) {
      const bytes = Deno.readFileSync(`${folder}/${name}`);
      const text = new TextDecoder("latin1").decode(bytes);
      assert.ok(!text.includes(key) && !text.includes(new TextDecoder("latin1").decode(live.file_key)), name);
    }
  }));
