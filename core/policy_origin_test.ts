/** Origins: one spelling each, and nothing that is too wide or never matches. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { readPolicy } from "./policy.ts";
import { kindOf, samplePolicy } from "./testdata/samples.ts";

const kind = (change: object) => kindOf(() => readPolicy({ ...samplePolicy(), ...change }));
const accepts = async (change: object) => assert.equal(await kind(change), null);
const refuses = async (change: object) => assert.equal(await kind(change), "bad_request");
const limits = (change: object) => ({ limits: { ...samplePolicy().limits, ...change } });

/** Whether it is accepted; `private`: only with `private_network`. */
type Allowed = boolean | "private";

const ORIGINS: [origin: string, allowed: Allowed, why: string][] = [
  ["https://api.example.test", true, "a host"],
  ["https://api.example.test:8443", true, "a host and port"],
  ["https://xn--exmple-cua.test", true, "punycode"],
  ["https://192.0.2.7", true, "an IPv4 literal"],
  ["https://[2001:db8::1]:444", true, "an IPv6 literal"],
  ["https://localhost:8443", true, "a single label"],
  ["http://localhost:8080", "private", "http"],
  ["http://10.0.0.1", "private", "http"],
  ["http://api.example.test", "private", "http"],
  // wildcards (B07)
  ["*", false, "a wildcard"],
  ["https://*", false, "a wildcard"],
  ["https://*.test", false, "a wildcard"],
  ["https://*.co.uk", false, "a wildcard"],
  ["https://api.*.test", false, "a wildcard"],
  ["https://api.example.test:*", false, "a wildcard port"],
  ["https://**.example.test", false, "a wildcard"],
  ["https://.example.test", false, "a leading dot reads like a wildcard and would never match"],
  ["https://api..example.test", false, "an empty label never matches"],
  ["", false, "nothing"],
  // other spellings (B05, B09, B15, B22)
  ["https://api.example.test.", false, "a trailing dot"],
  ["https://api.example.test/", false, "a path"],
  ["https://api.example.test/v1", false, "a path"],
  ["https://api.example.test?x", false, "a query"],
  ["https://api.example.test#x", false, "a fragment"],
  ["https://user@api.example.test", false, "user info"],
  ["https://user:pw@api.example.test", false, "user info"],
  ["https://@api.example.test", false, "empty user info"],
  ["https://api.example.test:443", false, "the default port"],
  ["http://api.example.test:80", false, "the default port"],
  ["https://api.example.test:", false, "an empty port"],
  ["https://api.example.test:08443", false, "a port with a leading zero"],
  ["https://api.example.test:65536", false, "a port beyond the last"],
  ["HTTPS://api.example.test", false, "upper case"],
  ["https://API.example.test", false, "upper case"],
  ["https://exämple.test", false, "not punycode"],
  ["https://api.example.test ", false, "a blank"],
  [" https://api.example.test", false, "a blank"],
  ["https://api.example.test\n", false, "a line break"],
  ["https:api.example.test", false, "no slashes"],
  ["https:\\\\api.example.test", false, "backslashes"],
  ["https://127.1", false, "a short IPv4 literal"],
  ["https://0x7f.0.0.1", false, "a hexadecimal IPv4 literal"],
  ["https://2130706433", false, "a decimal IPv4 literal"],
  ["https://[0:0:0:0:0:0:0:1]", false, "a long IPv6 literal"],
  ["https://api%2eexample.test", false, "an encoded dot"],
  // other schemes (B21)
  ["api.example.test", false, "no scheme"],
  ["//api.example.test", false, "no scheme"],
  ["ws://api.example.test", false, "another scheme"],
  ["file:///etc/passwd", false, "another scheme"],
  ["ftp://api.example.test", false, "another scheme"],
  ["data:text/plain,x", false, "another scheme"],
  ["null", false, "an opaque origin"],
];

for (const [origin, allowed, why] of ORIGINS) {
  const says = allowed === true
    ? "accepts"
    : allowed === "private"
    ? "accepts only with private_network"
    : "refuses";
  Deno.test(`readPolicy() ${says} the origin ${JSON.stringify(origin)}: ${why}`, async () => {
    await (allowed === true ? accepts : refuses)({ origins: [origin] });
    await (allowed === false ? refuses : accepts)({
      origins: [origin],
      ...limits({ private_network: true }),
    });
  });
}

Deno.test("readPolicy() refuses an origin that is named twice, none, and a bad one among good ones (B07)", async () => {
  await accepts({ origins: ["https://a.test", "https://b.test"] });
  await refuses({ origins: ["https://a.test", "https://a.test"] });
  await refuses({ origins: [] });
  await refuses({ origins: ["https://a.test", "https://*.b.test"] });
  await refuses({ origins: Array.from({ length: 21 }, (_, i) => `https://a${i}.test`) });
});

Deno.test("readPolicy() accepts only origins that URL gives back unchanged", () => {
  const piece = fc.constantFrom(
    ..."https:// http:// a.test A.test . : 443 80 8080 / @ * ? # % %2e 127.1 [::1] é \\ \t".split(" "),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const origin = pieces.join("");
      try {
        readPolicy(samplePolicy({ origins: [origin] }));
      } catch {
        return;
      }
      const url = new URL(origin);
      assert.equal(`https://${url.host}`, origin);
      assert.ok(!origin.endsWith(".") && !/[*@/]/.test(url.host));
    }),
    { numRuns: 500 },
  );
});
