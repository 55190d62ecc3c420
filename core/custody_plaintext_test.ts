import assert from "node:assert/strict";
import { fromUtf8, toBase64url, utf8 } from "./bytes.ts";
import { canonicalBytes } from "./canonical.ts";
import { readSecret, VALUE_BYTES } from "./custody.ts";
import { errorOf, samplePolicy } from "./testdata/samples.ts";

const value = utf8("sk-test-0123456789");
const policy = samplePolicy();
const inner = (change: object) => canonicalBytes({ policy, value: toBase64url(value), ...change });
const PLAINTEXTS: [name: string, plaintext: Uint8Array][] = [
  ["another member", inner({ note: 1 })],
  ["no value", inner({ value: undefined })],
  ["no policy", inner({ policy: null })],
  ["a policy that is refused", inner({ policy: samplePolicy({ origins: ["https://a.test/"] }) })],
  ["a short value", inner({ value: toBase64url(new Uint8Array(11)) })],
  ["a long value", inner({ value: toBase64url(new Uint8Array(VALUE_BYTES.max + 1)) })],
  ["a padded value", inner({ value: `${toBase64url(value)}=` })],
  ["a value that is text", inner({ value: "not base64url" })],
  ["another form of JSON", utf8(` ${fromUtf8(inner({}))}`)],
  ["no JSON", utf8("secret")],
];

for (const [name, plaintext] of PLAINTEXTS) {
  Deno.test(`readSecret() refuses a plaintext with ${name}`, async () => {
    assert.deepEqual(readSecret(inner({})), { policy, value });
    const error = await errorOf(() => readSecret(plaintext));
    assert.equal(error.kind, "bad_request");
    assert.ok(!error.message.includes(toBase64url(value)));
  });
}
