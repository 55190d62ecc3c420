import assert from "node:assert/strict";
import { toBase64url } from "@custos/core/bytes";
import { canonicalBytes } from "@custos/core/canonical";
import { newId } from "@custos/core/ids";
import { Client } from "@custos/rpc/client";
import type { DaemonStatusResult } from "@custos/rpc/daemon_schemas";
import { RpcError } from "@custos/rpc/rpc_error";
import { type Check, examine, type Self } from "./doctor_checks.ts";
import { type FakeAnswers, fakeDaemon } from "./testing/fake_daemon.ts";
import { custos } from "./testing/fake_io.ts";

const now = 1_700_000_000_000;
const device = newId();
const well: DaemonStatusResult = {
  version: "0.1.0",
  daemon: newId(),
  name: "kims-laptop",
  state_dir: "/s",
  profile: "public",
  started_ms: now - 60_000,
  devices: 1,
  pending: 0,
  live_grants: 0,
  relay: { url: "https://relay.test", state: "connected", since_ms: now - 60_000 },
  locked: false,
  channels: [{ device, locked: false, last_seen_ms: now - 60_000 }],
  audit: { size: 1 },
};
const me: Self = { socket: "/s/custos.sock", version: "0.1.0", deno: "2.9.6", now, file: "socket" };
const leaf = (time_ms: number) => toBase64url(canonicalBytes({ v: 1, time_ms, event: "daemon_started" }));

function answers(status: DaemonStatusResult, change: FakeAnswers = {}): FakeAnswers {
  const phone = {
    device,
    name: "Kim's phone",
    platform: "x",
    added_ms: now,
    last_seen_ms: now,
    locked: false,
  };
  return {
    "daemon.status": () => Promise.resolve(status),
    "devices.list": () => Promise.resolve({ devices: [phone] }),
    "requests.list": () => Promise.resolve({ requests: [] }),
    "log.read": () =>
      Promise.resolve({
        entries: [{ index: 0, leaf: leaf(now - 60_000) }],
        size: 1,
        checkpoint: "",
        key: "",
      }),
    ...change,
  };
}

async function examined(
  status: DaemonStatusResult,
  self: Partial<Self> = {},
  change: FakeAnswers = {},
): Promise<Check[]> {
  await using daemon = await fakeDaemon(answers(status, change));
  using client = new Client({ socket: daemon.socket });
  return await examine(client, { ...me, ...self });
}

Deno.test("examine() finds nothing where all is well, and names the phone", async () => {
  const checks = await examined(well);
  assert.deepEqual([...new Set(checks.map(({ level }) => level))], ["ok"]);
  assert.deepEqual(checks.map(({ name }) => name), [
    "deno",
    "socket",
    "daemon",
    "version",
    "relay",
    "phones",
    "lock",
    "profile",
    "requests",
    "clock",
  ]);
  assert.match(checks.find(({ name }) => name === "phones")!.says, /^Kim's phone, seen/);
});

Deno.test("examine() says of each fault what it is and what to do", async () => {
  const channel = well.channels[0]!;
  const relay = (state: DaemonStatusResult["relay"]["state"]) => ({ relay: { ...well.relay, state } });
  const stuck = {
    request_id: newId(),
    fingerprint: "rocket velvet oasis",
    type: "access" as const,
    agent: { name: null, client: null },
    reason: "x",
    status: "pending" as const,
    created_ms: now,
    expires_ms: now,
    delivery: "not_delivered" as const,
  };
  const late = { entries: [{ index: 0, leaf: leaf(now + 60_000) }], size: 1, checkpoint: "", key: "" };
  const rows: [string, Partial<DaemonStatusResult>, Partial<Self>, FakeAnswers, string, RegExp][] = [
    ["old Deno", {}, { deno: "2.9.4" }, {}, "deno", /2\.9\.4/],
    [
      "another version",
      { version: "0.2.0" },
      {},
      {},
      "version",
      /the daemon is 0\.2\.0 and this command is 0\.1\.0/,
    ],
    ["relay away", relay("offline"), {}, {}, "relay", /no card gets to the phone/],
    ["relay refuses", relay("refused"), {}, {}, "relay", /refuses the daemon/],
    ["relay never answers", relay("connecting"), {}, {}, "relay", /is not reached/],
    ["no phone", { devices: 0, channels: [] }, {}, {}, "phones", /no phone is paired/],
    [
      "phone never seen",
      { channels: [{ ...channel, last_seen_ms: null }] },
      {},
      {},
      "phones",
      /not seen since/,
    ],
    [
      "phone long unseen",
      { channels: [{ ...channel, last_seen_ms: now - 8 * 86_400_000 }] },
      {},
      {},
      "phones",
      /8 days/,
    ],
    ["two daemons", { channels: [{ ...channel, locked: true }] }, {}, {}, "phones", /two daemons/],
    ["locked", { locked: true }, {}, {}, "lock", /locked/],
    ["clock went back, by the start", { started_ms: now + 60_000 }, {}, {}, "clock", /went back/],
    [
      "clock went back, by the log",
      {},
      {},
      { "log.read": () => Promise.resolve(late) },
      "clock",
      /went back/,
    ],
    [
      "card did not leave",
      {},
      {},
      { "requests.list": () => Promise.resolve({ requests: [stuck] }) },
      "requests",
      /1 card did not leave/,
    ],
  ];
  for (const [what, change, self, more, name, says] of rows) {
    const problems = (await examined({ ...well, ...change }, self, more)).filter(({ level }) =>
      level === "problem"
    );
    assert.deepEqual(problems.map((check) => check.name), [name], what);
    assert.match(problems[0]!.says, says, what);
    assert.notEqual(problems[0]!.do ?? "", "", what);
  }
});

Deno.test("examine() makes notes of what is no fault", async () => {
  const rows: [Partial<DaemonStatusResult>, string][] = [
    [{ profile: "lan" }, "profile"],
    [{ relay: { ...well.relay, state: "connecting", since_ms: now - 1_000 } }, "relay"],
  ];
  for (const [change, name] of rows) {
    const checks = (await examined({ ...well, ...change })).filter(({ level }) => level !== "ok");
    assert.deepEqual(checks.map((check) => [check.name, check.level]), [[name, "note"]]);
  }
});

Deno.test("examine() stops where the daemon cannot be reached, and says which of the reasons it is", async () => {
  const rows: [Self["file"], RegExp][] = [
    [null, /there is nothing at/],
    ["other", /is not a socket/],
    ["unknown", /was started or installed for another socket/],
  ];
  for (const [file, says] of rows) {
    using client = new Client({ socket: "/nonexistent/custos.sock" });
    const checks = await examine(client, { ...me, file });
    assert.deepEqual(checks.map(({ name }) => name), ["deno", "socket", "daemon"]);
    assert.match(checks[1]!.says, says);
    assert.ok(checks.slice(1).every(({ level }) => level === "problem"));
  }
  using dead = new Client({ socket: "/nonexistent/custos.sock" });
  assert.match((await examine(dead, me)).at(-1)!.says, /killed or hangs/);
  const other = { "daemon.status": () => Promise.reject(new RpcError("internal", "odd\u001b[2J")) };
  const checks = await examined(well, {}, other);
  assert.deepEqual([checks.at(-1)!.name, checks.at(-1)!.says], ["daemon", "odd\\u{1b}[2J"]);
});

Deno.test("custos doctor exits with 0 where there is no problem and 1 where there is one, and says what it cannot see", async () => {
  const { default: config } = await import("./deno.json", { with: { type: "json" } });
  const fine = { ...well, version: config.version };
  const rows: [DaemonStatusResult, number][] = [[fine, 0], [{ ...fine, devices: 0, channels: [] }, 1]];
  for (const [status, code] of rows) {
    await using daemon = await fakeDaemon(answers(status));
    const text = await custos(daemon.socket, ["doctor"], { now });
    assert.equal(text.code, code, text.out);
    assert.match(text.out, /Not seen from here:\n {2}modes of the state folder/);
    const json = JSON.parse((await custos(daemon.socket, ["doctor", "--json"], { now })).out);
    assert.deepEqual([json.ok, json.not_seen.length], [code === 0, 4]);
    if (code === 1) {
      assert.match(text.out, /^PROBLEM phones +no phone is paired.*\n +Pair one: custos pair$/m);
    }
  }
  const gone = await custos("/nonexistent/custos.sock", ["doctor"]);
  assert.equal(gone.code, 1);
});

Deno.test("custos doctor shows no control character of a daemon, a phone or a path (B103)", async () => {
  const evil = "x\u001b[2J\u202e\n";
  const status = {
    ...well,
    version: evil,
    relay: { ...well.relay, url: evil, state: "offline" as const },
    channels: [{ device: evil, locked: true, last_seen_ms: null }],
  };
  await using daemon = await fakeDaemon(answers(status));
  const { out } = await custos(daemon.socket, ["doctor"], { now });
  assert.ok(!/(?!\n)[\p{Cc}\p{Cf}]/u.test(out));
});
