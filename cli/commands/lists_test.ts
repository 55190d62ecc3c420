import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import type { DaemonStatusResult } from "@custos/rpc/daemon_schemas";
import type { GrantView, HandleView } from "@custos/rpc/inventory_schemas";
import type { RequestView } from "@custos/rpc/request_schemas";
import { fakeDaemon } from "../testing/fake_daemon.ts";
import { custos } from "../testing/fake_io.ts";

/** B103, B104 and B106 in one text. */
const evil =
  "ok\u001b[2J\u001b[H\u001b]52;c;ZXZpbA==\u0007\u009b31m\u202etxt\u202c\u200b\u2066\u00ad\ufeff\u{e0041}\n" +
  "Host: api.bank.example\u2028Risk: low\u0085" + "e" + "\u0301".repeat(300);
const unsafe = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const now = 1_700_000_000_000;

const request: RequestView = {
  request_id: newId(),
  fingerprint: "rocket velvet oasis",
  type: "http",
  handle: "custos:demo-key",
  agent: { name: evil.slice(0, 60), client: { name: evil.slice(0, 60), version: "\u001b[0m" } },
  reason: evil,
  method: "POST",
  url: `https://api.example.test/v1/${evil}`,
  status: "granted",
  created_ms: now - 60_000,
  expires_ms: now + 60_000,
  decided_by: evil.slice(0, 100),
  delivery: "sent",
};
const grant: GrantView = {
  grant_id: newId(),
  handle: "custos:demo-key",
  origins: ["https://api.example.test"],
  methods: ["GET", "POST"],
  path: "/v1/x",
  uses_left: 1,
  max_uses: 1,
  expires_ms: now + 60_000,
  ended: false,
};
const handle: HandleView = {
  handle: "custos:demo-key",
  name: "demo-key",
  origins: ["https://api.example.test"],
  rules: [{ methods: ["GET", "POST"], path_prefix: "/v1/" }],
  placement: { kind: "header", name: "X-Api-Key" },
  limits: { max_seconds: 28_800, max_body_bytes: 1, private_network: true },
  version: 1,
  live_grants: [grant],
};
const status: DaemonStatusResult = {
  version: "0.1.0",
  daemon: newId(),
  name: evil.slice(0, 100),
  state_dir: `/home/${evil}`,
  profile: "lan",
  started_ms: now - 60_000,
  devices: 1,
  pending: 1,
  live_grants: 1,
  relay: { url: `https://relay.test/${evil}`, state: "offline", since_ms: now },
  locked: false,
  channels: [{ device: evil.slice(0, 100), locked: true, last_seen_ms: null }],
  audit: { size: 1_204 },
};
const device = {
  device: "id\u001b[2J",
  name: evil.slice(0, 100),
  platform: evil.slice(0, 100),
  added_ms: now,
  last_seen_ms: now,
  locked: false,
};
const answers = {
  "requests.list": () => Promise.resolve({ requests: [request, { ...request, status: "pending" as const }] }),
  "handles.list": () => Promise.resolve({ handles: [handle] }),
  "grants.list": () => Promise.resolve({ grants: [grant] }),
  "devices.list": () => Promise.resolve({ devices: [device] }),
  "daemon.status": () => Promise.resolve(status),
  "daemon.lock": () => Promise.resolve({ revoked: 2, cells: 1 }),
  "grants.revoke": () => Promise.resolve({ revoked: 0 }),
};

Deno.test("custos shows no control, bidi or invisible character of others, in any list (B103, B104, B106)", async () => {
  await using daemon = await fakeDaemon(answers);
  for (const command of ["requests", "devices", "status", "handles", "grants"]) {
    const { code, out, err } = await custos(daemon.socket, [command], { now });
    assert.equal(code, 0, command);
    assert.ok(!unsafe.test(out + err), command);
    assert.doesNotMatch(out, /^Host: /m);
    assert.doesNotMatch(out, /\u0301{6}/);
  }
});

Deno.test("custos prints what the daemon said as one JSON object, for every list", async () => {
  await using daemon = await fakeDaemon(answers);
  const rows: [string[], unknown][] = [
    [["requests"], await answers["requests.list"]()],
    [["handles"], await answers["handles.list"]()],
    [["grants"], await answers["grants.list"]()],
    [["devices"], await answers["devices.list"]()],
    [["status"], status],
    [["lock"], { revoked: 2, cells: 1 }],
    [["revoke", "--all"], { revoked: 0 }],
  ];
  for (const [args, expected] of rows) {
    const { out, err } = await custos(daemon.socket, [...args, "--json"]);
    assert.equal(out.indexOf("\n"), out.length - 1, args.join(" "));
    assert.deepEqual(JSON.parse(out), JSON.parse(JSON.stringify(expected)));
    assert.equal(err, "");
  }
});

Deno.test("custos handles, grants, lock and revoke say it in words", async () => {
  await using daemon = await fakeDaemon(answers);
  const say = async (...args: string[]) => {
    const { out, err } = await custos(daemon.socket, args, { now });
    return out + err;
  };
  assert.equal(
    await say("handles"),
    "custos:demo-key\n" +
      "  goes to   https://api.example.test\n" +
      "  rules     GET POST  /v1/\n" +
      "  placed as header X-Api-Key\n" +
      "  at most   8 h a grant, private network allowed\n" +
      "  granted   GET POST /v1/x, once, 60 s left\n",
  );
  assert.match(
    await say("grants"),
    /^custos:demo-key {2}https:\/\/api\.example\.test\n {2}GET POST \/v1\/x, once/,
  );
  assert.equal(await say("lock"), "Locked. Ended 2 grants. No secret is open in memory.\n");
  assert.equal(await say("revoke", "demo-key"), "Nothing was granted, so nothing had to end.\n");
  await say("revoke", grant.grant_id);
  assert.deepEqual(daemon.calls.slice(-2).map(({ params }) => params), [
    { handle: "custos:demo-key" },
    { grant_id: grant.grant_id },
  ]);
});

Deno.test("custos status warns of a locked channel and says which daemon it spoke to (B191)", async () => {
  await using daemon = await fakeDaemon(answers);
  const { out } = await custos(daemon.socket, ["status"], { now });
  assert.match(out, /two daemons used this name/);
  assert.match(out, new RegExp(`socket +${daemon.socket}`));
  assert.match(out, /log +1,204 entries/);
});

Deno.test("custos says on stderr that a list is empty, and leaves stdout empty", async () => {
  await using daemon = await fakeDaemon({
    "requests.list": () => Promise.resolve({ requests: [] }),
    "handles.list": () => Promise.resolve({ handles: [] }),
    "grants.list": () => Promise.resolve({ grants: [] }),
    "devices.list": () => Promise.resolve({ devices: [] }),
  });
  for (const command of ["requests", "handles", "grants", "devices"]) {
    const { code, out, err } = await custos(daemon.socket, [command]);
    assert.deepEqual([code, out], [0, ""], command);
    assert.notEqual(err, "");
  }
});
