import assert from "node:assert/strict";
import { ERROR_KINDS, type ErrorKind } from "@custos/core/errors";
import { codeFits, ERROR_CODES, exitCodeOf, isErrorKind } from "./error_codes.ts";

/** The table of DESIGN §11, written out once more so that a change of either is seen. */
const DESIGN_EXITS: Record<number, ErrorKind[]> = {
  2: ["bad_request", "unknown_request"],
  3: ["needs_approval"],
  4: ["denied", "expired", "withdrawn", "cooling_down", "too_many_pending", "pairing_refused"],
  5: ["outcome_unknown", "internal", "storage"],
  6: ["daemon_unreachable", "no_device", "locked"],
  7: [
    "unknown_handle",
    "host_not_allowed",
    "method_not_allowed",
    "path_not_allowed",
    "header_not_allowed",
    "body_too_large",
    "private_address",
  ],
  8: ["upstream_unreachable", "upstream_timeout", "undecodable_encoding"],
};

Deno.test("ERROR_CODES gives every kind the exit code of the design", () => {
  const seen: ErrorKind[] = [];
  for (const [exit, kinds] of Object.entries(DESIGN_EXITS)) {
    for (const kind of kinds) {
      assert.equal(exitCodeOf(kind), Number(exit), kind);
      seen.push(kind);
    }
  }
  assert.deepEqual([...seen].sort(), [...ERROR_KINDS].sort());
});

Deno.test("ERROR_CODES gives every kind one JSON-RPC code of its own in the server range", () => {
  const codes = ERROR_KINDS.map((kind) => ERROR_CODES[kind].json_rpc);
  assert.equal(new Set(codes).size, ERROR_KINDS.length);
  for (const code of codes) assert.ok(code <= -32_000 && code >= -32_099, `${code}`);
});

Deno.test("codeFits() takes a kind's own code, the envelope's codes for bad_request, and nothing else", () => {
  const rows: [ErrorKind, number, boolean][] = [
    ["denied", ERROR_CODES.denied.json_rpc, true],
    ["denied", ERROR_CODES.expired.json_rpc, false],
    ["denied", -32_600, false],
    ["bad_request", -32_700, true],
    ["bad_request", -32_600, true],
    ["bad_request", -32_601, true],
    ["bad_request", -32_602, false],
    ["bad_request", ERROR_CODES.internal.json_rpc, false],
  ];
  for (const [kind, code, fits] of rows) assert.equal(codeFits(kind, code), fits, `${kind} ${code}`);
});

Deno.test("isErrorKind() knows the closed union and not what every object inherits", () => {
  for (const kind of ERROR_KINDS) assert.ok(isErrorKind(kind));
  for (const word of ["", "constructor", "__proto__", "Denied", "needs approval"]) {
    assert.ok(!isErrorKind(word), word);
  }
});
