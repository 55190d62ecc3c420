import assert from "node:assert/strict";
import { CustosError, ERROR_KINDS } from "@custos/core/errors";
import { newId } from "@custos/core/ids";
import { ERROR_CODES } from "./error_codes.ts";
import { RpcError } from "./rpc_error.ts";

const id = newId();
const words = "rocket velvet t-shirt";

Deno.test("RpcError.needsApproval() carries the request id and the words", () => {
  const error = RpcError.needsApproval(id, words);
  assert.deepEqual(error.data, { kind: "needs_approval", request_id: id, fingerprint: words });
});

Deno.test("RpcError goes out and comes back for every kind", () => {
  for (const kind of ERROR_KINDS) {
    const error = new RpcError(kind, "What happened.", { until_ms: 17 }).withRequest(id, words);
    const wire = JSON.parse(JSON.stringify(error.toJsonRpc(7)));
    assert.equal(wire.id, 7);
    assert.equal(wire.error.code, ERROR_CODES[kind].json_rpc);
    const back = RpcError.fromJsonRpc(wire.error);
    assert.ok(back instanceof RpcError, kind);
    assert.equal(back.kind, kind);
    assert.equal(back.message, "What happened.");
    assert.deepEqual(back.request, { id, fingerprint: words });
    assert.equal(back.until_ms, 17);
  }
});

Deno.test("RpcError.fromJsonRpc() does not decode what is not exactly an error of ours", () => {
  const good = RpcError.needsApproval(id, words).toErrorObject();
  assert.ok(RpcError.fromJsonRpc(good));
  const { kind, request_id, fingerprint } = good.data;
  const rows: [string, unknown][] = [
    ["an id without words", { ...good, data: { kind, request_id } }],
    ["words without an id", { ...good, data: { kind, fingerprint } }],
    ["needs_approval about no request", { ...good, data: { kind } }],
    ["an unknown kind", { ...good, data: { ...good.data, kind: "teapot" } }],
    ["the code of another kind", { ...good, code: ERROR_CODES.denied.json_rpc }],
    ["an unknown member of data", { ...good, data: { ...good.data, note: 1 } }],
    ["an unknown member", { ...good, note: 1 }],
    ["no data", { code: good.code, message: good.message }],
    ["no message", { code: good.code, data: good.data }],
    ["two words", { ...good, data: { kind, request_id, fingerprint: "rocket velvet" } }],
    ["four words", { ...good, data: { kind, request_id, fingerprint: "a b c d" } }],
    ["two spaces", { ...good, data: { kind, request_id, fingerprint: "rocket  velvet oasis" } }],
    ["a capital", { ...good, data: { kind, request_id, fingerprint: "Rocket velvet oasis" } }],
    ["a line feed", { ...good, data: { kind, request_id, fingerprint: "rocket velvet oasis\n" } }],
    ["empty words", { ...good, data: { kind, request_id, fingerprint: "" } }],
    ["an id in capitals", { ...good, data: { kind, request_id: id.toUpperCase(), fingerprint } }],
    ["null", null],
    ["text", "denied"],
    ["a list", [good]],
  ];
  for (const [what, object] of rows) assert.equal(RpcError.fromJsonRpc(object), null, what);
});

Deno.test("RpcError.fromJsonRpc() refuses denied, expired and withdrawn that name no request", () => {
  for (const kind of ["needs_approval", "denied", "expired", "withdrawn"] as const) {
    const object = { code: ERROR_CODES[kind].json_rpc, message: "x", data: { kind } };
    assert.equal(RpcError.fromJsonRpc(object), null, kind);
  }
});

Deno.test("RpcError.toErrorObject() turns an error that lost its request into internal", () => {
  const object = new RpcError("denied", "No.").toErrorObject();
  assert.equal(object.data.kind, "internal");
  assert.equal(object.code, ERROR_CODES.internal.json_rpc);
  assert.match(object.message, /denied/);
});

Deno.test("RpcError.from() keeps what is known and hides what is not", () => {
  const known = RpcError.from(
    new CustosError("storage", "The disk is full.", { request: { id, fingerprint: words } }),
  );
  assert.deepEqual([known.kind, known.message, known.request?.id], ["storage", "The disk is full.", id]);
  const unexpected = RpcError.from(new TypeError('Invalid header value: "tok_live"'));
  assert.equal(unexpected.kind, "internal");
  assert.doesNotMatch(JSON.stringify(unexpected.toErrorObject()), /tok_live/);
});
