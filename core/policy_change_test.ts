import assert from "node:assert/strict";
import type { Policy } from "./policy.ts";
import { policyHash } from "./policy.ts";
import { checkNextVersion, type Widening, widenings } from "./policy_change.ts";
import { anyHash, kindOf, samplePolicy } from "./testdata/samples.ts";

const old = samplePolicy({
  origins: ["https://a.test", "https://b.test"],
  rules: [{ methods: ["GET", "POST"], path_prefix: "/v1" }, { methods: ["GET"], path_prefix: "/v2/" }],
});
const next = async (change: Partial<Policy> = {}): Promise<Policy> => ({
  ...old,
  version: 2,
  prev: await policyHash(old),
  ...change,
});
const limits = (change: object) => ({ limits: { ...old.limits, ...change } });
const rules = (...rules: Policy["rules"]) => ({ rules });

const ROWS: [name: string, change: Partial<Policy>, expected: Widening[]][] = [
  ["nothing but its version", {}, []],
  ["fewer origins", { origins: ["https://a.test"] }, []],
  ["origins in another order", { origins: ["https://b.test", "https://a.test"] }, []],
  ["fewer methods", rules({ methods: ["GET"], path_prefix: "/v1" }), []],
  ["a narrower prefix", rules({ methods: ["POST"], path_prefix: "/v1/x" }), []],
  ["the same prefix with a slash", rules({ methods: ["POST"], path_prefix: "/v1/" }), []],
  ["shorter grants and smaller bodies", limits({ max_seconds: 1, max_body_bytes: 0 }), []],
  ["another origin", { origins: ["https://a.test", "https://c.test"] }, [{
    what: "origin",
    origin: "https://c.test",
  }]],
  ["the same host on another port", { origins: ["https://a.test:8443"] }, [{
    what: "origin",
    origin: "https://a.test:8443",
  }]],
  [
    "another method",
    rules({ methods: ["GET", "DELETE"], path_prefix: "/v1" }),
    [{ what: "rule", method: "DELETE", path_prefix: "/v1" }],
  ],
  [
    "a method of one rule under the prefix of another",
    rules({ methods: ["POST"], path_prefix: "/v2/" }),
    [{ what: "rule", method: "POST", path_prefix: "/v2/" }],
  ],
  ["a sibling prefix", rules({ methods: ["GET"], path_prefix: "/v1x" }), [{
    what: "rule",
    method: "GET",
    path_prefix: "/v1x",
  }]],
  ["a wider prefix", rules({ methods: ["GET"], path_prefix: "/" }), [{
    what: "rule",
    method: "GET",
    path_prefix: "/",
  }]],
  ["a prefix without its slash", rules({ methods: ["GET"], path_prefix: "/v2" }), [{
    what: "rule",
    method: "GET",
    path_prefix: "/v2",
  }]],
  ["longer grants", limits({ max_seconds: 3601 }), [{ what: "seconds", from: 3600, to: 3601 }]],
  ["larger bodies", limits({ max_body_bytes: 1_048_577 }), [{
    what: "body",
    from: 1_048_576,
    to: 1_048_577,
  }]],
  ["the private network", limits({ private_network: true }), [{ what: "private_network" }]],
  ["another place", { placement: { kind: "query", name: "key" } }, [{ what: "placement" }]],
];

for (const [name, change, expected] of ROWS) {
  Deno.test(`widenings() finds ${expected.length === 0 ? "nothing" : "it"} where a version changes ${name}`, async () => {
    assert.deepEqual(widenings(old, await next(change)), expected);
  });
}

Deno.test("checkNextVersion() takes the next version of the same secret and no other", async () => {
  await checkNextVersion(old, await next({ origins: ["https://a.test"] }));
  const rows: [string, Partial<Policy>][] = [
    ["another secret", { secret_id: "aaaaaaaaaaaaaaaaaaaaaaaaaa" }],
    ["another name", { name: "gitlab" }],
    ["the same version", { version: 1, prev: null }],
    ["a version left out", { version: 3 }],
    ["another predecessor", { prev: anyHash(1) }],
    ["another epoch", { epoch: "aaaaaaaaaaaaaaaaaaaaaaaaaa" }],
    ["a policy that is refused", { origins: ["https://*.test"] }],
  ];
  for (const [name, change] of rows) {
    const changed = await next(change);
    assert.equal(await kindOf(() => checkNextVersion(old, changed)), "bad_request", name);
  }
});
