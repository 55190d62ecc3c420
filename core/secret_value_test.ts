import assert from "node:assert/strict";
import fc from "fast-check";
import { fromBase64, fromUtf8, utf8 } from "./bytes.ts";
import { CustosError } from "./errors.ts";
import type { Placement } from "./policy.ts";
import { checkSecretValue, placeSecret } from "./secret_value.ts";

const BEARER: Placement = { kind: "bearer" };
const HEADER: Placement = { kind: "header", name: "X-Api-Key", template: "token {secret}" };
const BASIC: Placement = { kind: "basic", username: "x-access-token" };
const QUERY: Placement = { kind: "query", name: "key" };
const ODD = 'sk-test/Ab+c=9"q\\z';

Deno.test("checkSecretValue() drops a byte order mark and the newline at the end, and says so (B38)", () => {
  const rows: [string, number][] = [
    ["tok_live_4f9c2a7e", 0],
    ["tok_live_4f9c2a7e\n", 1],
    ["tok_live_4f9c2a7e\r\n", 1],
    ["\ufefftok_live_4f9c2a7e", 1],
    ["\ufefftok_live_4f9c2a7e\n\n", 2],
  ];
  for (const [given, notices] of rows) {
    const checked = checkSecretValue(utf8(given), BEARER);
    assert.equal(fromUtf8(checked.value), "tok_live_4f9c2a7e");
    assert.equal(checked.notices.length, notices);
  }
});

Deno.test("checkSecretValue() refuses what cannot be sent or found again, without a part of it (B38, B67, B68)", () => {
  const rows: [string, string | Uint8Array, Placement][] = [
    ["empty", "", BEARER],
    ["one brace", "{", BEARER],
    ["four digits", "1234", QUERY],
    ["eleven bytes", "abcdefghijk", BEARER],
    ["eleven bytes and a newline", "abcdefghijk\n", BEARER],
    ["blanks", " ".repeat(20), QUERY],
    ["one character", "aaaaaaaaaaaaaaaa", BEARER],
    ["blank before", " tok_live_4f9c2a7e", BEARER],
    ["blank behind", "tok_live_4f9c2a7e\t", QUERY],
    ["blank before the newline", "tok_live_4f9c2a7e \n", BEARER],
    ["line break inside", "tok_live\n4f9c2a7e", BEARER],
    ["line break inside", "tok_live\r\n4f9c2a7e", HEADER],
    ["line break inside", "tok_live\n4f9c2a7e", BASIC],
    ["control", "tok_live\u00074f9c2a7e", HEADER],
    ["NUL", "tok_live\u00004f9c2a7e", QUERY],
    ["not ASCII in a header", "tok_live_\u00e9_4f9c2a7e", HEADER],
    ["not UTF-8", Uint8Array.of(...utf8("tok_live_4f9c2a7e"), 0xff), QUERY],
    ["too long", "ab".repeat(32_769), BEARER],
    ["much too long", "ab".repeat(200_000), QUERY],
  ];
  for (const [what, given, placement] of rows) {
    const bytes = typeof given === "string" ? utf8(given) : given;
    assert.throws(() => checkSecretValue(bytes, placement), (error) => {
      assert(error instanceof CustosError && error.kind === "bad_request", what);
      assert(!error.message.includes("tok_live"), what);
      return true;
    }, what);
  }
});

Deno.test("checkSecretValue() takes what each placement can carry, up to its limits", () => {
  const rows: [string, Placement][] = [
    ["abcdefghijkl", BEARER],
    ["ab".repeat(32_768), BEARER],
    [ODD, HEADER],
    ["p\u00e4ssw\u00f6rter!", BASIC],
    ["-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----", QUERY],
  ];
  for (const [given, placement] of rows) {
    assert.deepEqual(checkSecretValue(utf8(given), placement), { value: utf8(given), notices: [] });
  }
});

Deno.test("checkSecretValue() accepts its own output unchanged", () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 10, unit: "binary" }),
      fc.constantFrom(BEARER, BASIC, QUERY),
      (text, at) => {
        let first;
        try {
          first = checkSecretValue(utf8(text + "tok_live_4f9c2a7e\n"), at);
        } catch {
          return;
        }
        assert.deepEqual(checkSecretValue(first.value, at), { value: first.value, notices: [] });
      },
    ),
  );
});

Deno.test("placeSecret() gives the exact wire forms (B52)", () => {
  const secret = utf8(ODD);
  assert.deepEqual(placeSecret(BEARER, secret), { header: ["authorization", `Bearer ${ODD}`] });
  assert.deepEqual(placeSecret(HEADER, secret), { header: ["x-api-key", `token ${ODD}`] });
  assert.deepEqual(placeSecret(QUERY, secret), { query: "key=sk-test%2FAb%2Bc%3D9%22q%5Cz" });
  const basic = placeSecret(BASIC, secret).header!;
  assert.equal(basic[0], "authorization");
  assert.equal(fromUtf8(fromBase64(basic[1].replace(/^Basic /, ""))!), `x-access-token:${ODD}`);
});

Deno.test("placeSecret() takes the secret as text, not as a replacement pattern", () => {
  const secret = utf8("$&$1$$-{secret}-x");
  assert.deepEqual(placeSecret(HEADER, secret), { header: ["x-api-key", "token $&$1$$-{secret}-x"] });
});
