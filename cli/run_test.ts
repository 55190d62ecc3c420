import assert from "node:assert/strict";
import { ERROR_KINDS } from "@custos/core/errors";
import { newId } from "@custos/core/ids";
import { ERROR_CODES } from "@custos/rpc/error_codes";
import { RpcError } from "@custos/rpc/rpc_error";
import { COMMANDS } from "./commands.ts";
import { fakeDaemon } from "./testing/fake_daemon.ts";
import { custos } from "./testing/fake_io.ts";

const id = newId();
const words = "rocket velvet oasis";
const nowhere = "/nonexistent/custos.sock";

Deno.test("run() shows help for every command, with options and examples, without a daemon", async () => {
  for (const name of Object.keys(COMMANDS)) {
    for (const args of [[name, "--help"], [name, "-h"], ["help", name]]) {
      const ran = await custos(nowhere, args);
      assert.equal(ran.code, 0, args.join(" "));
      assert.match(ran.out, new RegExp(`Usage: custos ${name}\\b`));
      assert.match(ran.out, /--json/);
      assert.match(ran.out, /Examples:\n {2}custos /);
      for (const line of ran.out.split("\n")) assert.ok(line.length <= 90, line);
    }
  }
  const overview = await custos(nowhere, ["--help"]);
  assert.equal(overview.code, 0);
  for (const name of Object.keys(COMMANDS)) assert.match(overview.out, new RegExp(`^ {2}${name} `, "m"));
});

Deno.test("run() answers a wrong command line with exit code 2 and nothing on stdout", async () => {
  const rows: string[][] = [
    [],
    ["nothing"],
    ["constructor"],
    ["--socket"],
    ["status", "extra"],
    ["status", "--value", "x"],
    ["wait"],
    ["wait", "not-an-id"],
    ["revoke"],
    ["revoke", "custos:x", "--all"],
    ["request", "custos:x"],
    ["request", "custos:x", "--reason", "  "],
    ["drop", "x"],
    ["drop", "x", "tok_live_4f9c2a7e", "--reason", "y"],
    ["drop", "--reason", "y", "--", "-f"],
    ["drop", "../x", "--reason", "y"],
    ["drop", "x", "--reason", "y", "--placement", "cookie"],
    ["drop", "x", "--reason", "y", "--allow", "GET"],
    ["http", "not a url"],
    ["http", "ftp://x.test/"],
    ["http", "--handle", "x", "--wait", "200", "https://x.test/"],
    ["http", "--handle", "x", "-H", "no colon", "https://x.test/"],
    ["http", "--handle", "x", "-d", "@/etc/passwd", "https://x.test/"],
    ["requests", "--status", "open"],
    ["log", "check"],
    ["log", "--limit", "0"],
    ["status", "--socket", "relative"],
  ];
  for (const args of rows) {
    const ran = await custos(nowhere, args);
    assert.equal(ran.code, 2, args.join(" "));
    assert.equal(ran.out, "", args.join(" "));
    assert.notEqual(ran.err, "", args.join(" "));
    assert.doesNotMatch(ran.err, /tok_live/);
  }
});

Deno.test("run() says what to do where no daemon answers, with exit code 6", async () => {
  const ran = await custos(nowhere, ["status"]);
  assert.equal(ran.code, 6);
  assert.match(
    ran.err,
    /^custos: daemon_unreachable: There is no socket \/nonexistent\/custos\.sock.*Start it/,
  );
});

Deno.test("run() ends with the exit code of each kind, and names the request in the last words and on the terminal", async () => {
  for (const kind of ERROR_KINDS) {
    const error = new RpcError(kind, "What happened.", { until_ms: 1_000 }).withRequest(id, words);
    await using daemon = await fakeDaemon({ "handles.list": () => Promise.reject(error) });
    const ran = await custos(daemon.socket, ["handles"]);
    assert.equal(ran.code, ERROR_CODES[kind].exit, kind);
    assert.equal(ran.out, "");
    assert.equal(ran.tty, `Request ${id}  fingerprint: ${words}\n`);
    assert.ok(ran.err.startsWith(`custos: ${kind}: What happened.`), ran.err);
    assert.ok(ran.err.endsWith(` (request ${id}, fingerprint: ${words})\n`), ran.err);
  }
});

Deno.test("run() puts the request's line on stderr where there is no controlling terminal", async () => {
  await using daemon = await fakeDaemon({
    "handles.list": () => Promise.reject(RpcError.needsApproval(id, words)),
  });
  const ran = await custos(daemon.socket, ["handles"], { tty: false });
  assert.ok(ran.err.startsWith(`Request ${id}  fingerprint: ${words}\n`), ran.err);
});

Deno.test("run() makes an error data too, where JSON is wanted", async () => {
  await using daemon = await fakeDaemon({
    "handles.list": () => Promise.reject(RpcError.needsApproval(id, words)),
  });
  const ran = await custos(daemon.socket, ["handles", "--json"]);
  assert.equal(ran.code, 3);
  const { error } = JSON.parse(ran.out);
  assert.deepEqual(Object.keys(error), ["message", "kind", "request_id", "fingerprint"]);
  assert.deepEqual([error.kind, error.request_id, error.fingerprint], ["needs_approval", id, words]);
  const usage = await custos(nowhere, ["--json", "status", "extra"]);
  assert.equal(JSON.parse(usage.out).error.kind, "bad_request");
});

Deno.test("run() takes the socket from the flag before the environment, also in front of the command", async () => {
  await using daemon = await fakeDaemon({ "grants.list": () => Promise.resolve({ grants: [] }) });
  for (const args of [["grants", "--socket", daemon.socket], ["--socket", daemon.socket, "grants"]]) {
    assert.equal((await custos(nowhere, args)).code, 0);
  }
});

Deno.test("run() tells the daemon who asks, from --agent or CUSTOS_AGENT", async () => {
  await using daemon = await fakeDaemon({
    "drop.request": () => Promise.reject(new RpcError("no_device", "No phone.")),
  });
  const ask = ["drop", "x", "--reason", "y"];
  await custos(daemon.socket, [...ask, "--agent", "claude"], { env: { CUSTOS_AGENT: "other" } });
  await custos(daemon.socket, ask, { env: { CUSTOS_AGENT: "other" } });
  await custos(daemon.socket, ask);
  assert.deepEqual(daemon.calls.map(({ params }) => params.agent), [
    { name: "claude" },
    { name: "other" },
    { name: null },
  ]);
});
