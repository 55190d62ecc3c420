import assert from "node:assert/strict";
import { CustosError } from "./errors.ts";
import { checkHeaders, headerOf, isPlaceableHeader } from "./header_rules.ts";
import type { Placement } from "./policy.ts";

const BEARER: { placement: Placement } = { placement: { kind: "bearer" } };
const KEYED: { placement: Placement } = {
  placement: { kind: "header", name: "X-Api-Key", template: "{secret}" },
};

/** Text of the refusal; fails unless the kind is `header_not_allowed`. */
function refusal(headers: [string, string][], under = BEARER): string {
  try {
    checkHeaders(under, headers);
  } catch (error) {
    assert(error instanceof CustosError && error.kind === "header_not_allowed");
    return error.message;
  }
  assert.fail(`passed: ${JSON.stringify(headers)}`);
}

Deno.test("checkHeaders() passes an API's own headers in order, in small letters", () => {
  const given: [string, string][] = [
    ["X-GitHub-Api-Version", "2022-11-28"],
    ["Content-Type", " application/json\t"],
    ["Idempotency-Key", "k-1"],
    ["__proto__", "x"],
    ["constructor", "\xe9"],
    ["X-Note", "{{secret:demo-key}}"], // B46: literal text, never a place
  ];
  assert.deepEqual(checkHeaders(BEARER, given), [
    ["x-github-api-version", "2022-11-28"],
    ["content-type", "application/json"],
    ["idempotency-key", "k-1"],
    ["__proto__", "x"],
    ["constructor", "\xe9"],
    ["x-note", "{{secret:demo-key}}"],
  ]);
});

Deno.test("checkHeaders() refuses names that frame, route, authenticate or override (B40, B42, B43, B48, B54, B61)", () => {
  const names = [
    ...[
      "authorization",
      "AUTHORIZATION",
      "Cookie",
      "Host",
      "Content-Length",
      "Content_Length",
      "Transfer-Encoding",
    ],
    ...["Connection", "Keep-Alive", "TE", "Trailer", "Upgrade", "Expect", "HTTP2-Settings", "Via"],
    ...["Proxy-Authorization", "Proxy-Connection", "Range", "If-Range", "Accept-Encoding", "Forwarded"],
    ...["X-Forwarded-Host", "X-Forwarded-For", "X_Forwarded_Proto", "X-Original-URL", "X-Rewrite-URL"],
    ...["X-HTTP-Method-Override", "x_http_method_override", "X-HTTP-Method", "X-Method-Override"],
    ...["Sec-WebSocket-Key", "Sec-Fetch-Site"],
  ];
  for (const name of names) {
    const text = refusal([[name, "value-of-agent"]]);
    assert(text.includes(name.toLowerCase()), text);
    assert(!text.includes("value-of-agent"), text);
  }
});

Deno.test("checkHeaders() keeps the secret's own header for the secret (B40, B54)", () => {
  refusal([["x-api-key", "mine"]], KEYED);
  refusal([["X-API-KEY", "mine"]], KEYED);
  refusal([["Authorization", "Bearer mine"]], KEYED);
  assert.equal(checkHeaders(BEARER, [["X-Api-Key", "mine"]]).length, 1);
});

Deno.test("checkHeaders() refuses line breaks, controls, odd names and repeats, without the value (B37, B53)", () => {
  const rows: [string, string][][] = [
    [["X-A", "1\r\nX-Injected: yes"]],
    [["X-A", "1\nX-B: 2"]],
    [["X-A", "1\u0000"]],
    [["X-A", "1\r"]],
    [["X-A", "1\u0085"]],
    [["X-A", "1\u2028"]],
    [["X-A: b\r\nX", "1"]],
    [["X Y", "1"]],
    [["x-y:", "1"]],
    [[":authority", "evil.test"]],
    [["Authorization ", "1"]],
    [["", "1"]],
    [["x".repeat(129), "1"]],
    [["X-A", "1"], ["x-a", "2"]],
    [["X-A", 1 as unknown as string]],
    [["X-A", null as unknown as string]],
    [["X-A", { toString: () => "1" } as unknown as string]],
  ];
  for (const headers of rows) assert(!/Injected|X-B|evil/.test(refusal(headers)));
});

Deno.test("checkHeaders() bounds count and size (B53)", () => {
  const many = Array.from({ length: 101 }, (_, i): [string, string] => [`x-${i}`, "1"]);
  assert.equal(checkHeaders(BEARER, many.slice(0, 100)).length, 100);
  refusal(many);
  assert.equal(checkHeaders(BEARER, [["x-a", "a".repeat(16_381)]]).length, 1);
  refusal([["x-a", "a".repeat(16_382)]]);
});

Deno.test("isPlaceableHeader() keeps a secret out of the message's framing", () => {
  for (const name of ["Host", "content-length", "Transfer_Encoding", "Connection", "x y", ""]) {
    assert.equal(isPlaceableHeader(name), false, name);
  }
  for (const name of ["X-Api-Key", "Authorization", "Cookie", "PRIVATE-TOKEN"]) {
    assert.equal(isPlaceableHeader(name), true, name);
  }
});

Deno.test("headerOf() names the header that a placement fills", () => {
  assert.equal(headerOf({ kind: "basic", username: "u" }), "authorization");
  assert.equal(headerOf(KEYED.placement), "x-api-key");
  assert.equal(headerOf({ kind: "query", name: "key" }), null);
});
