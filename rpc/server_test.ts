import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import { dispatch, dispatchText, readStreamParams } from "./server.ts";
import { RpcError } from "./rpc_error.ts";

const id = newId();
const call = (method: string, params?: unknown) => ({
  jsonrpc: "2.0",
  id: 5,
  method,
  ...(params ? { params } : {}),
});

Deno.test("dispatch() runs a handler with its context and returns its result", async () => {
  const handlers = {
    "daemon.lock": (_: unknown, context: { revoked: number }) =>
      Promise.resolve({ revoked: context.revoked, cells: 1 }),
  };
  const response = await dispatch(handlers, call("daemon.lock"), { revoked: 2 });
  assert.deepEqual(response, { jsonrpc: "2.0", id: 5, result: { revoked: 2, cells: 1 } });
});

Deno.test("dispatch() refuses what is not one call", async () => {
  let ran = 0;
  const handlers = {
    "daemon.lock": () => {
      ran++;
      return Promise.resolve({ revoked: 0, cells: 0 });
    },
  };
  const rows: [unknown, number][] = [
    [[call("daemon.lock")], -32_600], // a batch
    [{ jsonrpc: "2.0", method: "daemon.lock" }, -32_600], // a notification
    [{ ...call("daemon.lock"), id: null }, -32_600],
    [{ ...call("daemon.lock"), jsonrpc: "1.0" }, -32_600],
    [{ ...call("daemon.lock"), extra: 1 }, -32_600],
    [{ ...call("daemon.lock"), params: [] }, -32_600],
    [null, -32_600],
    ["daemon.lock", -32_600],
    [call("daemon.nothing"), -32_601],
    [call("constructor"), -32_601],
    [call("daemon.status"), -32_601], // known, without a handler
    [call("daemon.lock", { now: true }), -32_010],
  ];
  for (const [request, code] of rows) {
    const response = await dispatch(handlers, request, null);
    assert.ok("error" in response, JSON.stringify(request));
    assert.equal(response.error.code, code, JSON.stringify(request));
    assert.equal(response.error.data.kind, "bad_request");
    assert.ok(RpcError.fromJsonRpc(response.error));
  }
  assert.equal(ran, 0);
  const broken = await dispatchText(handlers, "{", null);
  assert.ok("error" in broken && broken.error.code === -32_700 && broken.id === null);
});

Deno.test("dispatch() fails loudly in the daemon when a result lacks its words", async () => {
  const result = { request_id: id, status: "pending", expires_ms: 1, delivery: "sent" } as never;
  const handlers = {
    "access.request": () => Promise.resolve(result),
    "access.status": () => Promise.resolve(result),
  };
  const asked = await dispatch(handlers, call("access.request", { handle: "custos:x", reason: "y" }), null);
  assert.ok("error" in asked && asked.error.data.kind === "outcome_unknown");
  const read = await dispatch(handlers, call("access.status", { request_id: id }), null);
  assert.ok("error" in read && read.error.data.kind === "internal");
});

Deno.test("dispatch() carries a request's id and words with its error, and hides unexpected text", async () => {
  const seen: unknown[] = [];
  const handlers = {
    "http.request": () => Promise.reject(RpcError.needsApproval(id, "rocket velvet oasis")),
    "handles.list": () => Promise.reject(new TypeError('Invalid header value: "tok_live"')),
    "grants.list": () => Promise.reject(new RpcError("denied", "Somebody forgot the request.")),
  };
  const params = { handle: "custos:x", method: "GET", url: "https://x.test/", reason: "y" };
  const asked = await dispatch(handlers, call("http.request", params), null);
  assert.ok("error" in asked);
  assert.deepEqual(asked.error.data, {
    kind: "needs_approval",
    request_id: id,
    fingerprint: "rocket velvet oasis",
  });
  const broken = await dispatch(
    handlers,
    call("handles.list"),
    null,
    (error, method) => seen.push(method, error),
  );
  assert.ok("error" in broken && broken.error.data.kind === "internal");
  assert.doesNotMatch(JSON.stringify(broken), /tok_live/);
  assert.equal(seen[0], "handles.list");
  const forgot = await dispatch(handlers, call("grants.list"), null);
  assert.ok("error" in forgot && forgot.error.data.kind === "internal");
});

Deno.test("readStreamParams() reads the params of the streaming form and refuses others", () => {
  const params = { handle: "custos:x", method: "GET", url: "https://x.test/", reason: "y" };
  assert.deepEqual(readStreamParams(JSON.stringify(params)), params);
  for (const body of ["", "[]", "null", JSON.stringify({ ...params, follow: true })]) {
    assert.throws(
      () => readStreamParams(body),
      (error) => error instanceof RpcError && error.kind === "bad_request",
    );
  }
});
