import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import type { Schema } from "@custos/core/schema";
import { decodeParams, decodeResult } from "./decode.ts";
import { HTTP_STREAM_PARAMS } from "./http_schemas.ts";
import { loadMethod } from "./method_loader.ts";
import { ACTS, isMethodName, type MethodName, METHODS, type Params } from "./methods.ts";
import { RpcError } from "./rpc_error.ts";

const id = newId();
const resultOf = (method: MethodName): Schema<unknown> => METHODS[method].result as Schema<unknown>;
const request = {
  request_id: id,
  fingerprint: "rocket velvet oasis",
  status: "pending",
  expires_ms: 1,
  delivery: "sent",
};
const http = {
  request_id: id,
  fingerprint: "rocket velvet oasis",
  status_code: 200,
  headers: [["link", "a"], ["link", "b"]],
  body: "{}",
  body_encoding: "utf8",
  truncated: false,
  redactions: 0,
  received_bytes: 2,
};

/** A result of each of the six methods whose result must carry the words (DESIGN §5.3). */
const WITH_WORDS: [MethodName, Record<string, unknown>][] = [
  ["access.request", request],
  ["access.status", { ...request, type: "access" }],
  ["access.withdraw", {
    request_id: id,
    fingerprint: "rocket velvet oasis",
    status: "withdrawn",
    detached: false,
  }],
  ["drop.request", request],
  ["secret.propose", request],
  ["http.request", http],
];

Deno.test("METHODS requires the fingerprint in all six results about a request", () => {
  for (const [method, result] of WITH_WORDS) {
    assert.ok(decodeResult(resultOf(method), result), method);
    const { fingerprint: _words, ...without } = result;
    assert.equal(decodeResult(resultOf(method), without), null, `${method} without words`);
    for (const fingerprint of ["", null, "rocket velvet", "rocket velvet oasis ", "ROCKET velvet oasis"]) {
      assert.equal(
        decodeResult(resultOf(method), { ...result, fingerprint }),
        null,
        `${method} ${fingerprint}`,
      );
    }
    const { request_id: _id, ...nameless } = result;
    assert.equal(decodeResult(resultOf(method), nameless), null, `${method} without id`);
  }
});

Deno.test("METHODS takes a handle in access.status of a drop, and of nothing else", () => {
  const schema = METHODS["access.status"].result;
  const delivered = { ...request, status: "delivered", handle: "custos:github" };
  assert.ok(decodeResult(schema, { ...delivered, type: "drop" }));
  for (const type of ["access", "http", "propose"]) {
    assert.equal(decodeResult(schema, { ...delivered, type }), null, type);
  }
});

Deno.test("METHODS refuses an unknown member in the params of every method", () => {
  for (const method of Object.keys(METHODS) as MethodName[]) {
    const schema = METHODS[method].params;
    assert.throws(
      () => decodeParams(schema as never, { "max-bytes": 1, surprise: 1 }, method),
      (error) => error instanceof RpcError && error.kind === "bad_request",
      method,
    );
  }
});

Deno.test("METHODS refuses params that a person could not mean", () => {
  const access = { handle: "custos:github", reason: "list issues" };
  const call = { ...access, method: "GET", url: "https://api.github.com/" };
  const drop = { name: "github", reason: "to list issues" };
  const good: [MethodName, Record<string, unknown>][] = [
    ["access.request", access],
    ["http.request", { ...call, wait_ms: 0, max_bytes: 0 }],
    ["drop.request", drop],
    ["grants.revoke", { all: true }],
    ["handles.list", {}],
  ];
  for (const [method, params] of good) decodeParams(METHODS[method].params as never, params, method);

  const bad: [MethodName, Record<string, unknown>, RegExp][] = [
    ["access.request", { ...access, reason: "" }, /reason/],
    ["access.request", { ...access, reason: " \n\t\u200b\u3000" }, /not only blanks/],
    ["access.request", { ...access, reason: "\ud800" }, /reason/],
    ["access.request", { ...access, handle: "github" }, /custos:github/],
    ["access.request", { ...access, handle: "custos:__proto__" }, /handle/],
    ["access.request", { ...access, handle: "custos:-f" }, /handle/],
    ["access.request", { ...access, uses: 0 }, /uses/],
    ["access.request", { ...access, seconds: 1.5 }, /seconds/],
    ["access.request", { ...access, wait_ms: 120_001 }, /120,000/],
    ["access.request", { ...access, wait_ms: -1 }, /wait/],
    ["drop.request", { ...drop, name: "" }, /begins with a letter/],
    ["drop.request", { ...drop, name: " " }, /begins with a letter/],
    ["drop.request", { ...drop, name: "../x" }, /begins with a letter/],
    ["drop.request", { ...drop, name: "DEMO" }, /begins with a letter/],
    ["drop.request", { ...drop, name: "a".repeat(64) }, /begins with a letter/],
    ["drop.request", { ...drop, reason: "   " }, /reason/],
    ["drop.request", { ...drop, suggest: { origin: [] } }, /origin/],
    ["http.request", { ...call, method: "get" }, /capitals/],
    ["http.request", { ...call, max_bytes: 16_777_217 }, /stream/],
    ["http.request", { ...call, headers: { accept: "x" } }, /headers/],
    ["http.request", { ...call, body: "text" }, /body/],
    ["http.request", { ...call, redirect: "follow" }, /redirect/],
    ["grants.revoke", {}, /grants.revoke/],
    ["grants.revoke", { all: false }, /./],
    ["grants.revoke", { all: true, handle: "custos:github" }, /./],
    ["access.status", { request_id: "x" }, /26 characters/],
    ["log.read", { limit: 1_001 }, /./],
  ];
  for (const [method, params, text] of bad) {
    assert.throws(
      () => decodeParams(METHODS[method].params as never, params, method),
      (error) => error instanceof RpcError && error.kind === "bad_request" && text.test(error.message),
      `${method} ${JSON.stringify(params)}`,
    );
  }
});

Deno.test("decodeParams() never repeats a value that does not fit", () => {
  const params = { handle: "tok_live_4f9c2a7e", reason: "x" } as Params<"access.request">;
  assert.throws(
    () => decodeParams(METHODS["access.request"].params, params, "access.request"),
    (error) => error instanceof RpcError && !error.message.includes("tok_live"),
  );
});

Deno.test("HTTP_STREAM_PARAMS has no bound on max_bytes, which the inline form has", () => {
  const params = {
    handle: "custos:x",
    method: "GET",
    url: "https://x.test/",
    reason: "x",
    max_bytes: 2 ** 40,
  };
  decodeParams(HTTP_STREAM_PARAMS, params, "http.request");
  assert.throws(() => decodeParams(METHODS["http.request"].params, params, "http.request"));
});

Deno.test("isMethodName() knows the table and not what every object inherits (B113)", () => {
  assert.ok(isMethodName("http.request"));
  for (const word of ["constructor", "__proto__", "toString", "", "http", null, 1]) {
    assert.ok(!isMethodName(word));
  }
});

Deno.test("loadMethod() gives a client exactly the schemas that the daemon uses", async () => {
  assert.deepEqual(Object.keys(METHODS).sort(), Object.keys(ACTS).sort());
  for (const method of Object.keys(METHODS) as MethodName[]) {
    const { params, result } = await loadMethod(method);
    assert.ok(params === METHODS[method].params, method);
    assert.ok(result === METHODS[method].result, method);
  }
});
