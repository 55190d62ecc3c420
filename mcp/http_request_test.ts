import assert from "node:assert/strict";
import { ERROR_KINDS } from "@custos/core/errors";
import { newId } from "@custos/core/ids";
import { RpcError } from "@custos/rpc/rpc_error";
import { answer, session, WORDS } from "./harness_test.ts";

const get = {
  handle: "custos:github",
  url: "https://api.github.test/repos",
  reason: "List the repositories.",
};

Deno.test("http_request under a live grant is one call to the daemon, and gives the answer in fields", async () => {
  const sent = answer({ headers: [["content-type", "application/json"], ["link", "<x>"]], redactions: 2 });
  await using open = await session({ "http.request": () => Promise.resolve(sent) }, { agent: "builder" });
  const seen = await open.call("http_request", {
    ...get,
    method: "POST",
    headers: [{ name: "Content-Type", value: "text/plain" }, { name: "X-A", value: "1" }],
    body: "žluťoučký 🐎",
    max_bytes: 500,
  });
  assert.equal(seen.isError, false);
  assert.equal(seen.fields.status, "answered");
  assert.equal(seen.fields.status_code, 200);
  assert.equal(seen.fields.body, '{"ok":true}');
  assert.equal(seen.fields.request_id, sent.request_id);
  assert.equal(seen.fields.fingerprint, WORDS);
  assert.equal(seen.fields.redactions, 2);
  assert.deepEqual(seen.fields.headers, [{ name: "content-type", value: "application/json" }, {
    name: "link",
    value: "<x>",
  }]);
  assert.deepEqual(open.calls.map(({ params }) => params), [{
    ...get,
    method: "POST",
    headers: [["Content-Type", "text/plain"], ["X-A", "1"]],
    body: { encoding: "utf8", data: "žluťoučký 🐎" },
    max_bytes: 500,
    wait_ms: 0,
    agent: { name: "builder", client: { name: "test client", version: "1.2.3" } },
  }]);
});

Deno.test("http_request passes a body in base64 on, and refuses two bodies", async () => {
  await using open = await session({ "http.request": () => Promise.resolve(answer()) });
  await open.call("http_request", { ...get, method: "PUT", body_base64: "AAE=" });
  assert.deepEqual(open.calls[0]!.params.body, { encoding: "base64", data: "AAE=" });
  const seen = await open.call("http_request", { ...get, method: "PUT", body_base64: "AAE=", body: "x" });
  assert.equal(seen.fields.error, "bad_request");
  assert.equal(open.calls.length, 1);
});

Deno.test("http_request without a grant says needs_approval with the words, and is not an error", async () => {
  const id = newId();
  await using open = await session({
    "http.request": () => Promise.reject(RpcError.needsApproval(id, WORDS)),
  });
  const seen = await open.call("http_request", { ...get, wait_seconds: 0 });
  assert.equal(seen.isError, false);
  assert.equal(seen.fields.status, "needs_approval");
  assert.equal(seen.fields.request_id, id);
  assert.equal(seen.fields.fingerprint, WORDS);
  assert.equal(seen.fields.poll_tool, "request_access");
  assert.match(seen.texts[0]!, new RegExp(`request_access with {"request_id":"${id}"}`));
  assert.match(seen.texts[0]!, /Tell the user these three words now: rocket velvet oasis/);
  assert.equal(open.calls.length, 1, "a wait of 0 returns at once");
});

Deno.test("http_request files the request, tells the words by progress, and waits in one live call", async () => {
  const id = newId();
  await using open = await session({
    "http.request": (params) =>
      params.wait_ms === 0 ? Promise.reject(RpcError.needsApproval(id, WORDS)) : Promise.resolve(answer()),
  });
  const heard: string[] = [];
  const seen = await open.call("http_request", { ...get, wait_seconds: 30 }, {
    onprogress: ({ message }) => heard.push(message ?? ""),
  });
  assert.equal(seen.fields.status, "answered");
  assert.deepEqual(open.calls.map(({ params }) => params.wait_ms), [0, 30_000]);
  const { wait_ms: _a, ...first } = open.calls[0]!.params;
  const { wait_ms: _b, ...second } = open.calls[1]!.params;
  assert.deepEqual(first, second, "the second call must join the request of the first");
  assert.ok(heard.some((text) => text.includes(WORDS)));
});

Deno.test("http_request whose wait ends says needs_approval again", async () => {
  const id = newId();
  await using open = await session({
    "http.request": () => Promise.reject(RpcError.needsApproval(id, WORDS)),
  });
  const seen = await open.call("http_request", { ...get, wait_seconds: 1 });
  assert.equal(seen.fields.status, "needs_approval");
  assert.deepEqual(open.calls.map(({ method }) => method), ["http.request", "http.request"]);
});

Deno.test("http_request turns every error of the daemon into a tool error with its code, id and words", async () => {
  for (const kind of ERROR_KINDS) {
    if (kind === "needs_approval") continue;
    const id = newId();
    const error = new RpcError(kind, "What happened.").withRequest(id, WORDS);
    await using open = await session({ "http.request": () => Promise.reject(error) });
    const seen = await open.call("http_request", get);
    assert.equal(seen.isError, true, kind);
    assert.equal(seen.fields.error, kind);
    assert.equal(seen.fields.request_id, id);
    assert.equal(seen.fields.fingerprint, WORDS);
    const ended = ["denied", "expired", "withdrawn", "cooling_down"].includes(kind);
    assert.equal(seen.fields.status, ended ? kind : "error");
    assert.ok(seen.texts[0]!.startsWith(`Error ${kind}: What happened.`));
    assert.ok(seen.texts[0]!.includes(id) && seen.texts[0]!.includes(WORDS));
    assert.ok(String(seen.fields.next_step).length > 20, `${kind} says what to do next`);
  }
});

Deno.test("http_request says until when a cool-down lasts", async () => {
  const error = new RpcError("cooling_down", "Refused a short while ago.", { until_ms: 1_800_000_000_000 });
  await using open = await session({ "http.request": () => Promise.reject(error) });
  const seen = await open.call("http_request", get);
  assert.equal(seen.fields.until_ms, 1_800_000_000_000);
  assert.match(seen.texts[0]!, /Until 2027-01-15T08:00:00.000Z/);
});

Deno.test("http_request names the request when the line breaks during the wait, and does not send it again", async () => {
  const id = newId();
  await using open = await session({
    "http.request": (params) =>
      params.wait_ms === 0 ? Promise.reject(RpcError.needsApproval(id, WORDS)) : Promise.resolve(answer()),
  }, { mangle: (reply) => reply.includes("status_code") ? '{"jsonrpc":"2.0","id":1,"resu' : reply });
  const seen = await open.call("http_request", get);
  assert.equal(seen.fields.error, "outcome_unknown");
  assert.equal(seen.fields.request_id, id);
  assert.equal(seen.fields.fingerprint, WORDS);
  assert.match(String(seen.fields.next_step), /Do not send it again unless it only reads/);
  assert.equal(open.calls.length, 2);
});

Deno.test("http_request reports 404 and 500 of the API as answers, not as errors (B97)", async () => {
  for (const status_code of [404, 500]) {
    await using open = await session({ "http.request": () => Promise.resolve(answer({ status_code })) });
    const seen = await open.call("http_request", get);
    assert.equal(seen.isError, false);
    assert.equal(seen.fields.status, "answered");
    assert.equal(seen.fields.status_code, status_code);
    assert.match(seen.texts[0]!, new RegExp(`answered with status ${status_code}`));
  }
});

Deno.test("http_request refuses arguments that do not fit, and the daemon hears nothing", async () => {
  const rows: [Record<string, unknown>, RegExp][] = [
    [{}, /handle/],
    [{ ...get, method: "get" }, /method: must be in capitals/],
    [{ ...get, url: "" }, /url/],
    [{ ...get, reason: " " }, /reason: must say why/],
    [{ ...get, headers: { Accept: "x" } }, /headers/],
    [{ ...get, headers: [["a", "b"]] }, /headers/],
    [{ ...get, headers: [{ name: "a", value: "b", x: 1 }] }, /Unknown argument: x/],
    [{ ...get, follow_redirects: true }, /Unknown argument: follow_redirects/],
    [{ ...get, max_bytes: 2_000_000 }, /max_bytes/],
    [{ ...get, wait_seconds: 1.5 }, /wait_seconds/],
  ];
  await using open = await session({});
  for (const [args, text] of rows) {
    const seen = await open.call("http_request", args);
    assert.equal(seen.fields.error, "bad_request", JSON.stringify(args));
    assert.match(String(seen.fields.message), text);
  }
  assert.deepEqual(open.calls, []);
});

Deno.test("http_request that is cancelled during the wait leaves, and withdraws nothing", async () => {
  const id = newId();
  const waiting = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  await using open = await session({
    "http.request": (params, signal) => {
      if (params.wait_ms === 0) return Promise.reject(RpcError.needsApproval(id, WORDS));
      signal.addEventListener("abort", () => left.resolve());
      waiting.resolve();
      return new Promise(() => {});
    },
  });
  const stop = new AbortController();
  const call = open.client.callTool({ name: "http_request", arguments: get }, { signal: stop.signal });
  await waiting.promise;
  stop.abort("stop");
  await assert.rejects(call);
  await left.promise;
  assert.deepEqual(open.calls.map(({ method }) => method), ["http.request", "http.request"]);
});

Deno.test("http_request tells of a denial that came between its two calls, with id and words", async () => {
  const id = newId();
  const status = (status: "denied" | "pending") => ({
    request_id: id,
    fingerprint: WORDS,
    type: "http" as const,
    status,
    expires_ms: 1,
    delivery: "sent" as const,
  });
  for (const [ended, error] of [["denied", "denied"], ["pending", "cooling_down"]] as const) {
    await using open = await session({
      "http.request": (params) =>
        Promise.reject(
          params.wait_ms === 0
            ? RpcError.needsApproval(id, WORDS)
            : new RpcError("cooling_down", "Not now.", { until_ms: 5 }),
        ),
      "access.status": () => Promise.resolve(status(ended)),
    });
    const seen = await open.call("http_request", { ...get, wait_seconds: 5 });
    assert.equal(seen.isError, true);
    assert.equal(seen.fields.error, error);
    assert.equal(seen.fields.request_id, id);
    assert.equal(seen.fields.fingerprint, WORDS);
  }
});
