import assert from "node:assert/strict";
import { asCustosError, CustosError, ERROR_KINDS } from "./errors.ts";

Deno.test("ERROR_KINDS is the closed union of DESIGN §9, each kind once", () => {
  assert.equal(new Set(ERROR_KINDS).size, ERROR_KINDS.length);
  assert.equal(
    ERROR_KINDS.join(" "),
    "needs_approval denied expired withdrawn cooling_down no_device too_many_pending pairing_refused " +
      "unknown_handle unknown_request bad_request host_not_allowed method_not_allowed path_not_allowed " +
      "header_not_allowed body_too_large private_address upstream_unreachable upstream_timeout " +
      "undecodable_encoding outcome_unknown storage locked daemon_unreachable internal",
  );
});

Deno.test("CustosError.withRequest() sets id and words together and keeps the rest", () => {
  const error = new CustosError("cooling_down", "Wait.", { until_ms: 5 }).withRequest("id", "a b c");
  assert.deepEqual(error.request, { id: "id", fingerprint: "a b c" });
  assert.deepEqual([error.kind, error.message, error.until_ms], ["cooling_down", "Wait.", 5]);
  assert.ok(error instanceof CustosError);
});

Deno.test("CustosError begins about no request and with no time", () => {
  const error = new CustosError("denied", "No.");
  assert.deepEqual([error.request, error.until_ms, error.name], [null, null, "CustosError"]);
});

Deno.test("asCustosError() keeps an expected error and hides the text of any other", () => {
  const expected = new CustosError("storage", "The disk is full.");
  assert.equal(asCustosError(expected), expected);
  for (
    const thrown of [new TypeError("Invalid header value: hunter2"), "hunter2", undefined, {
      message: "hunter2",
    }]
  ) {
    const error = asCustosError(thrown);
    assert.equal(error.kind, "internal");
    assert.ok(!`${error.message} ${error.stack} ${String(error.cause)}`.includes("hunter2"));
  }
});
