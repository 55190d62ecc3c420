import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import { RpcError } from "@custos/rpc/rpc_error";
import { answer, session, status, WORDS } from "./harness_test.ts";

const ask = { handle: "custos:github", reason: "List the open issues." };
const grant = {
  grant_id: newId(),
  handle: "custos:github",
  origins: ["https://api.github.test"],
  methods: ["GET"],
  path_prefix: "/repos",
  uses_left: 5,
  max_uses: 5,
  expires_ms: 1_900_000_000_000,
  ended: false,
};

Deno.test("request_access passes on what is wanted and who asks, and files the request without waiting", async () => {
  const { type: _, ...filed } = status();
  await using open = await session({ "access.request": () => Promise.resolve(filed) }, { agent: "builder" });
  const wanted = { methods: ["GET", "POST"], path_prefix: "/repos", seconds: 600, uses: 3 };
  await open.call("request_access", { ...ask, ...wanted, wait_seconds: 0 });
  const agent = { name: "builder", client: { name: "test client", version: "1.2.3" } };
  assert.deepEqual(open.calls, [{
    method: "access.request",
    params: { ...ask, ...wanted, wait_ms: 0, agent },
  }]);
});

Deno.test("request_access that is not answered says which tool polls, with what, and the words for the user", async () => {
  const { type: _, ...filed } = status({ delivery: "not_delivered" });
  await using open = await session({ "access.request": () => Promise.resolve(filed) });
  const seen = await open.call("request_access", { ...ask, wait_seconds: 0 });
  assert.equal(seen.isError, false);
  assert.equal(seen.fields.status, "pending");
  assert.equal(seen.fields.poll_tool, "request_access");
  assert.equal(seen.fields.poll_request_id, filed.request_id);
  assert.match(seen.texts[0]!, new RegExp(`call request_access with {"request_id":"${filed.request_id}"}`));
  assert.match(seen.texts[0]!, /Tell the user these three words now: rocket velvet oasis/);
  assert.match(seen.texts[0]!, /has not been reached yet/);
});

Deno.test("every result of request_access carries the request's id and words, errors too", async () => {
  const ends = ["pending", "granted", "denied", "expired", "withdrawn"] as const;
  for (const end of ends) {
    for (const poll of [false, true]) {
      const state = status({ status: end, ...(end === "granted" ? { grant } : {}) });
      const { type: _, ...filed } = state;
      await using open = await session({
        "access.request": () => Promise.resolve(filed),
        "access.status": () => Promise.resolve(state),
      });
      const seen = await open.call(
        "request_access",
        poll ? { request_id: state.request_id, wait_seconds: 0 } : { ...ask, wait_seconds: 0 },
      );
      const name = `${end}, ${poll ? "polled" : "asked"}`;
      assert.equal(seen.fields.status, end, name);
      assert.equal(seen.fields.request_id, state.request_id, name);
      assert.equal(seen.fields.fingerprint, WORDS, name);
      assert.ok(seen.texts[0]!.includes(state.request_id) && seen.texts[0]!.includes(WORDS), name);
      assert.equal(seen.isError, ["denied", "expired", "withdrawn"].includes(end), name);
      assert.equal(seen.fields.error, seen.isError ? end : undefined, name);
    }
  }
});

Deno.test("request_access says why the daemon withdrew a request", async () => {
  const state = status({ status: "withdrawn", reason: "daemon_restarted" });
  await using open = await session({ "access.status": () => Promise.resolve(state) });
  const seen = await open.call("request_access", { request_id: state.request_id });
  assert.match(String(seen.fields.message), /daemon_restarted/);
});

Deno.test("request_access waits by reading the status, and creates one request", async () => {
  const { type, ...filed } = status();
  let reads = 0;
  await using open = await session({
    "access.request": () => Promise.resolve(filed),
    "access.status": () =>
      Promise.resolve({ ...filed, type, ...(++reads < 3 ? {} : { status: "granted" as const, grant }) }),
  });
  const seen = await open.call("request_access", { ...ask, wait_seconds: 20 });
  assert.equal(seen.fields.status, "granted");
  assert.equal(seen.fields.path_prefix, "/repos");
  assert.equal(seen.fields.uses_left, 5);
  assert.equal(open.calls.filter(({ method }) => method === "access.request").length, 1);
  for (const { method, params } of open.calls.slice(1)) {
    assert.equal(method, "access.status");
    assert.ok(Number(params.wait_ms) > 0 && Number(params.wait_ms) <= 10_000, "a read waits at most 10 s");
  }
});

Deno.test("request_access reports progress with the words when the client asks for it", async () => {
  const state = status();
  let reads = 0;
  await using open = await session({
    "access.status": () =>
      Promise.resolve({ ...state, ...(++reads < 3 ? {} : { status: "denied" as const }) }),
  });
  const heard: { progress: number; message?: string }[] = [];
  const seen = await open.call("request_access", { request_id: state.request_id }, {
    onprogress: (progress) => heard.push(progress),
  });
  assert.equal(seen.fields.status, "denied");
  assert.ok(heard.length >= 1);
  assert.match(heard[0]!.message ?? "", /Waiting for an answer on the phone.*rocket velvet oasis/);
});

Deno.test("request_access says that a grant has ended", async () => {
  const state = status({ status: "granted", grant: { ...grant, uses_left: 0, ended: true } });
  await using open = await session({ "access.status": () => Promise.resolve(state) });
  const seen = await open.call("request_access", { request_id: state.request_id });
  assert.equal(seen.fields.grant_ended, true);
  assert.match(String(seen.fields.next_step), /The grant has ended/);
});

Deno.test("request_access of an approved http request says to call http_request again, unchanged", async () => {
  const state = status({ type: "http", status: "granted", grant });
  await using open = await session({ "access.status": () => Promise.resolve(state) });
  const seen = await open.call("request_access", { request_id: state.request_id });
  assert.match(String(seen.fields.next_step), /http_request again now, with exactly the same arguments/);
});

Deno.test("request_access refuses arguments that do not fit, and the daemon hears nothing", async () => {
  const id = newId();
  const rows: [Record<string, unknown>, RegExp][] = [
    [{}, /Give handle and reason to ask, or only request_id to poll/],
    [{ handle: "custos:github" }, /Give handle and reason/],
    [{ reason: "x" }, /Give handle and reason/],
    [{ handle: "custos:github", reason: " \u200b\t" }, /reason: must say why/],
    [{ handle: "github", reason: "x" }, /handle: must be a handle such as custos:github/],
    [{ ...ask, request_id: id }, /request_id polls and stands alone, but handle, reason came with it/],
    [{ request_id: "nope" }, /request_id: must be the request_id of an earlier result/],
    [{ ...ask, wait_seconds: 121 }, /wait_seconds/],
    [{ ...ask, wait_seconds: -1 }, /wait_seconds/],
    [{ ...ask, colour: "red" }, /Unknown argument: colour/],
    [{ ...ask, methods: ["get"] }, /methods.0: must be in capitals/],
    [{ ...ask, path_prefix: "repos" }, /path_prefix: must be a path that begins with/],
  ];
  await using open = await session({});
  for (const [args, text] of rows) {
    const seen = await open.call("request_access", args);
    assert.equal(seen.isError, true, JSON.stringify(args));
    assert.equal(seen.fields.error, "bad_request");
    assert.match(String(seen.fields.message), text);
  }
  assert.deepEqual(open.calls, []);
});

Deno.test("a reply without words is outcome_unknown for every tool that asks or polls (ADR 0005)", async () => {
  const state = status();
  const { type: _, ...filed } = state;
  const rows: [string, Record<string, unknown>][] = [
    ["request_access", ask],
    ["request_access", { request_id: state.request_id }],
    ["request_secret_from_human", { name: "github", reason: "x" }],
    ["request_secret_from_human", { request_id: state.request_id }],
    ["http_request", { handle: "custos:github", url: "https://api.github.test/", reason: "x" }],
  ];
  await using open = await session({
    "access.request": () => Promise.resolve(filed),
    "access.status": () => Promise.resolve(state),
    "drop.request": () => Promise.resolve(filed),
    "http.request": () => Promise.resolve(answer()),
  }, { mangle: (reply) => reply.replace(/"fingerprint":"[^"]*",?/, "") });
  for (const [name, args] of rows) {
    const seen = await open.call(name, args);
    assert.equal(seen.isError, true, name);
    assert.equal(seen.fields.error, "outcome_unknown", name);
  }
});

Deno.test("waitForAnswer() stops loudly when one id gets other words or another id", async () => {
  for (const change of [{ fingerprint: "other words here" }, { request_id: newId() }]) {
    const { type: _, ...filed } = status();
    await using open = await session({
      "access.request": () => Promise.resolve(filed),
      "access.status": () => Promise.resolve({ ...filed, type: "access" as const, ...change }),
    });
    const seen = await open.call("request_access", ask);
    assert.equal(seen.fields.error, "internal");
    assert.match(String(seen.fields.message), /Do not approve anything/);
  }
});

Deno.test("waitForAnswer() names the request when the daemon stops during the wait", async () => {
  const { type: _, ...filed } = status();
  await using open = await session({
    "access.request": () => Promise.resolve(filed),
    "access.status": () => Promise.reject(new RpcError("locked", "custos is locked.")),
  });
  const seen = await open.call("request_access", ask);
  assert.equal(seen.fields.error, "locked");
  assert.equal(seen.fields.request_id, filed.request_id);
  assert.equal(seen.fields.fingerprint, WORDS);
});

Deno.test("a cancelled wait ends the wait and withdraws nothing", async () => {
  const { type: _, ...filed } = status();
  const waiting = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  await using open = await session({
    "access.request": () => Promise.resolve(filed),
    "access.status": (_params, signal) => {
      signal.addEventListener("abort", () => left.resolve());
      waiting.resolve();
      return new Promise(() => {});
    },
  });
  const stop = new AbortController();
  const call = open.client.callTool({ name: "request_access", arguments: ask }, { signal: stop.signal });
  await waiting.promise;
  stop.abort("the user pressed stop");
  await assert.rejects(call);
  await left.promise; // the daemon sees the caller leave
  assert.deepEqual(open.calls.map(({ method }) => method), ["access.request", "access.status"]);
});
