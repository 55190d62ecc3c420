import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import type { RequestStatus } from "@custos/rpc/common";
import type { AccessStatusResult } from "@custos/rpc/request_schemas";
import { RpcError } from "@custos/rpc/rpc_error";
import { type FakeAnswers, fakeDaemon } from "./testing/fake_daemon.ts";
import { custos } from "./testing/fake_io.ts";

const id = newId();
const words = "rocket velvet oasis";
const line = `Request ${id}  fingerprint: ${words}\n`;
const asked = {
  request_id: id,
  fingerprint: words,
  status: "pending" as RequestStatus,
  expires_ms: 1_000,
  delivery: "sent" as const,
};
const grant = {
  grant_id: newId(),
  handle: "custos:demo-key",
  origins: ["https://api.example.test"],
  methods: ["GET"],
  path_prefix: "/v1/",
  uses_left: 3,
  max_uses: 5,
  expires_ms: 900_000,
  ended: false,
};

/** A daemon whose request is pending at first, and has this status for whoever waits. */
function daemonOf(later: Partial<AccessStatusResult>, type: "access" | "drop" = "access"): FakeAnswers {
  return {
    "access.request": () => Promise.resolve(asked),
    "drop.request": () => Promise.resolve(asked),
    "access.status": ({ wait_ms }) => Promise.resolve({ ...asked, type, ...(wait_ms === 0 ? {} : later) }),
    "access.withdraw": () =>
      Promise.resolve({ request_id: id, fingerprint: words, status: "withdrawn", detached: false }),
  };
}
const request = ["request", "demo-key", "--reason", "to look"];
const drop = ["drop", "demo-key", "--reason", "to look"];

Deno.test("custos request asks without waiting, shows the words, and then waits", async () => {
  await using daemon = await fakeDaemon(daemonOf({ status: "granted", grant }));
  const ran = await custos(daemon.socket, [
    ...request,
    "-X",
    "get",
    "--uses",
    "5",
    "--seconds",
    "60",
    "--path-prefix",
    "/v1/",
  ], {
    now: 60_000,
  });
  assert.equal(ran.code, 0);
  assert.equal(ran.tty, line);
  assert.equal(ran.out, "custos:demo-key  GET /v1/ and below, 3 of 5 uses, 14 min left\n");
  assert.deepEqual(daemon.calls.map(({ method, params }) => [method, params.wait_ms]), [
    ["access.request", 0],
    ["access.status", 0],
    ["access.status", 60_000],
  ]);
  const { agent: _agent, ...params } = daemon.calls[0]!.params;
  assert.deepEqual(params, {
    handle: "custos:demo-key",
    reason: "to look",
    methods: ["GET"],
    path_prefix: "/v1/",
    seconds: 60,
    uses: 5,
    wait_ms: 0,
  });
});

Deno.test("custos request, drop and wait exit by what became of the request", async () => {
  const rows: [RequestStatus, number][] = [
    ["pending", 3],
    ["granted", 0],
    ["denied", 4],
    ["expired", 4],
    ["withdrawn", 4],
  ];
  for (const [status, code] of rows) {
    await using daemon = await fakeDaemon(daemonOf({ status }));
    for (const args of [request, drop, ["wait", id]]) {
      const ran = await custos(daemon.socket, args);
      assert.equal(ran.code, code, `${args[0]} ${status}`);
      assert.equal(ran.tty, line);
      const json = await custos(daemon.socket, [...args, "--json"]);
      assert.equal(json.code, code);
      assert.equal(JSON.parse(json.out).status, status);
      assert.equal(JSON.parse(json.out).fingerprint, words);
    }
  }
});

Deno.test("custos drop prints the handle with the name that the human chose, and only that on stdout", async () => {
  await using daemon = await fakeDaemon(daemonOf({ status: "delivered", handle: "custos:renamed" }, "drop"));
  const args = [
    "--origin",
    "https://a.test",
    "--allow",
    "get,post /v1/",
    "--placement",
    "header:X-Key",
    "--seconds",
    "60",
  ];
  const ran = await custos(daemon.socket, [...drop, ...args]);
  assert.deepEqual([ran.code, ran.out], [0, "custos:renamed\n"]);
  assert.deepEqual(daemon.calls[0]!.params.suggest, {
    origins: ["https://a.test"],
    rules: [{ methods: ["GET", "POST"], path_prefix: "/v1/" }],
    placement: { kind: "header", name: "X-Key", template: "{secret}" },
    max_seconds: 60,
  });
});

Deno.test("custos wait collects a late drop and creates nothing", async () => {
  await using daemon = await fakeDaemon(daemonOf({ status: "delivered", handle: "custos:renamed" }, "drop"));
  const ran = await custos(daemon.socket, ["wait", id, "--wait", "2"]);
  assert.deepEqual([ran.code, ran.out, ran.tty], [0, "custos:renamed\n", line]);
  assert.deepEqual([...new Set(daemon.calls.map(({ method }) => method))], ["access.status"]);
  assert.equal(daemon.calls.at(-1)!.params.wait_ms, 2_000);
});

Deno.test("custos drop and request with --wait 0 return at once, and name the way to ask again", async () => {
  await using daemon = await fakeDaemon(daemonOf({ status: "granted" }));
  for (const args of [request, drop]) {
    const before = daemon.calls.length;
    const ran = await custos(daemon.socket, [...args, "--wait", "0"]);
    assert.equal(ran.code, 3);
    assert.equal(ran.tty, line);
    assert.match(ran.err, new RegExp(`custos wait ${id}`));
    assert.ok(daemon.calls.slice(before).every(({ params }) => params.wait_ms === 0));
  }
});

Deno.test("custos says so when the card has not left, and why a request was withdrawn", async () => {
  await using daemon = await fakeDaemon({
    ...daemonOf({ status: "withdrawn", reason: "daemon_restarted" }),
    "drop.request": () => Promise.resolve({ ...asked, delivery: "not_delivered" as const }),
  });
  const ran = await custos(daemon.socket, drop);
  assert.match(ran.err, /has not left for the phone/);
  assert.equal(ran.out, "withdrawn (daemon restarted)\n");
});

Deno.test("custos request, drop and wait call a reply without words undecodable, with exit code 5", async () => {
  const { fingerprint: _words, ...without } = asked;
  const raw = () => Response.json({ jsonrpc: "2.0", id: 1, result: { ...without, type: "access" } });
  await using daemon = await fakeDaemon({ raw });
  for (
    const [args, kind] of [[request, "outcome_unknown"], [drop, "outcome_unknown"], [
      ["wait", id],
      "internal",
    ]] as const
  ) {
    const ran = await custos(daemon.socket, [...args]);
    assert.equal(ran.code, 5);
    assert.ok(ran.err.startsWith(`custos: ${kind}: `), ran.err);
  }
});

Deno.test("custos withdraw takes a request back, or says that it only left it", async () => {
  const answers = daemonOf({});
  await using daemon = await fakeDaemon(answers);
  const ran = await custos(daemon.socket, ["withdraw", id]);
  assert.deepEqual([ran.code, ran.out, ran.tty], [0, "withdrawn\n", line]);
  answers["access.withdraw"] = () =>
    Promise.resolve({ request_id: id, fingerprint: words, status: "pending", detached: true });
  assert.match((await custos(daemon.socket, ["withdraw", id])).err, /Somebody else waits/);
  answers["access.withdraw"] = () =>
    Promise.reject(new RpcError("unknown_request", "There is no such request."));
  assert.equal((await custos(daemon.socket, ["withdraw", id])).code, 2);
});
