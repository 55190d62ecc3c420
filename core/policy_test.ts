import assert from "node:assert/strict";
import { type Placement, type Policy, policyHash, type PolicyRule, readPolicy } from "./policy.ts";
import { anyHash, errorOf, kindOf, samplePolicy } from "./testdata/samples.ts";
import vectors from "./testdata/documents.json" with { type: "json" };

const kind = (change: object) => kindOf(() => readPolicy({ ...samplePolicy(), ...change }));
const accepts = async (change: object, name?: string) => assert.equal(await kind(change), null, name);
const refuses = async (change: object, name?: string) =>
  assert.equal(await kind(change), "bad_request", name);
const limits = (change: object) => ({ limits: { ...samplePolicy().limits, ...change } });
const rule = (change: Partial<PolicyRule>) => ({
  rules: [{ methods: ["GET"], path_prefix: "/", ...change }],
});

Deno.test("policyHash() gives the vector", async () => {
  assert.equal(await policyHash(readPolicy(vectors.policy)), vectors.policy_hash);
});

Deno.test("policyHash() changes with each member", async () => {
  const changes: Partial<Policy>[] = [
    { secret_id: "aaaaaaaaaaaaaaaaaaaaaaaaaa" },
    { name: "gitlab" },
    { version: 2, prev: anyHash(1) },
    { version: 3, prev: anyHash(1) },
    { version: 2, prev: anyHash(2) },
    { origins: ["https://api.github.test", "https://b.test"] },
    { origins: ["https://b.test", "https://api.github.test"] },
    rule({ methods: ["GET"] }),
    rule({ methods: ["POST"] }),
    rule({ path_prefix: "/repos/" }),
    { placement: { kind: "basic", username: "x" } },
    { request_hash: anyHash(1) },
    limits({ max_seconds: 3601 }),
    limits({ max_body_bytes: 0 }),
    limits({ private_network: true }),
    { epoch: "aaaaaaaaaaaaaaaaaaaaaaaaaa" },
    { created_ms: 1 },
  ];
  const hashes = await Promise.all([{}, ...changes].map((change) => policyHash(samplePolicy(change))));
  assert.equal(new Set(hashes).size, changes.length + 1);
});

const NAMES: [name: string, allowed: boolean][] = [
  ["github", true],
  ["demo-key", true],
  ["a", true],
  ["a_1-b", true],
  ["constructor", true],
  ["a".repeat(63), true],
  // B113
  ["a".repeat(64), false],
  ["a".repeat(300), false],
  ["", false],
  ["../x", false],
  ["a/b", false],
  ["a.b", false],
  ["a b", false],
  [" a", false],
  ["a\n", false],
  ["-f", false],
  ["--help", false],
  ["_a", false],
  ["1a", false],
  ["DEMO-KEY", false],
  ["Demo", false],
  ["d\u00e9mo", false],
  ["de\u0301mo", false],
  ["d\u0435mo", false],
  ["__proto__", false],
  ["a:b", false],
  ["a\u0000", false],
];

for (const [name, allowed] of NAMES) {
  Deno.test(`readPolicy() ${allowed ? "accepts" : "refuses"} the name ${JSON.stringify(name)} (B113)`, async () => {
    await (allowed ? accepts : refuses)({ name });
  });
}

const PREFIXES: [prefix: string, allowed: boolean, why: string][] = [
  ["/", true, "everything"],
  ["/v1/user", true, "a segment"],
  ["/v1/user/", true, "below a segment"],
  ["/a%20b", true, "an encoded blank"],
  ["/a:b@c,d;e=f", true, "reserved characters"],
  ["/.well-known/x", true, "a name that begins with a dot"],
  ["/a..b", true, "dots inside a name"],
  // B18, B20
  ["", false, "nothing"],
  ["v1", false, "no slash"],
  ["https://a.test/v1", false, "a URL"],
  ["/v1/../admin", false, "a dot segment"],
  ["/v1/./user", false, "a dot segment"],
  ["/v1/..", false, "a dot segment"],
  ["/v1/%2e%2e/admin", false, "an encoded dot segment"],
  ["/v1/.%2E/admin", false, "a half encoded dot segment"],
  ["/v1/%2Fadmin", false, "an encoded slash"],
  ["/v1/%2fadmin", false, "an encoded slash"],
  ["/v1/%5cadmin", false, "an encoded backslash"],
  ["/v1\\admin", false, "a backslash"],
  ["/v1?x=1", false, "a query"],
  ["/v1#x", false, "a fragment"],
  ["/v1 x", false, "a blank"],
  ["/v1\t", false, "a tab"],
  ["/v1\n", false, "a line break"],
  ["/\u00e9", false, "not ASCII"],
  ["/v1/\u202eadmin", false, "a bidi control"],
  ["/" + "a".repeat(1024), false, "more than 1,024 characters"],
];

for (const [path_prefix, allowed, why] of PREFIXES) {
  const shown = path_prefix.length > 40 ? `${path_prefix.slice(0, 20)}…` : path_prefix;
  Deno.test(`readPolicy() ${allowed ? "accepts" : "refuses"} the prefix ${JSON.stringify(shown)}: ${why}`, async () => {
    await (allowed ? accepts : refuses)(rule({ path_prefix }));
  });
}

Deno.test("readPolicy() takes `*` in a prefix as a character, not as a wildcard (B20)", async () => {
  await accepts(rule({ path_prefix: "/v1/*" }));
});

Deno.test("readPolicy() accepts the methods of RFC 9110 that APIs need and refuses all others (B49)", async () => {
  for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    await accepts(rule({ methods: [method] }), method);
  }
  const all = "GET HEAD POST PUT PATCH DELETE OPTIONS".split(" ");
  const bad = [["get"], ["TRACE"], ["CONNECT"], ["*"], ["ANY"], ["GET "], [""], [], [...all, "GET"], [
    "GET",
    "FOO",
  ]];
  for (const methods of bad) await refuses(rule({ methods }), methods.join());
  await refuses({ rules: [] });
});

const PLACEMENTS: [placement: Placement | object, allowed: boolean, why: string][] = [
  [{ kind: "bearer" }, true, "bearer"],
  [{ kind: "header", name: "X-Api-Key", template: "{secret}" }, true, "a header"],
  [{ kind: "header", name: "authorization", template: "token {secret}" }, true, "a template"],
  [{ kind: "basic", username: "x-access-token" }, true, "basic"],
  [{ kind: "query", name: "api_key" }, true, "a query member"],
  // B52
  [{ kind: "bearer", name: "x" }, false, "a member too many"],
  [{ kind: "cookie", name: "x" }, false, "an unknown kind"],
  [{}, false, "no kind"],
  [{ kind: "header", name: "X-Api-Key" }, false, "no template"],
  [{ kind: "header", name: "Host", template: "{secret}" }, false, "the host"],
  [{ kind: "header", name: "content-length", template: "{secret}" }, false, "the length of the body"],
  [
    { kind: "header", name: "Transfer_Encoding", template: "{secret}" },
    false,
    "the framing, as CGI reads it",
  ],
  [{ kind: "header", name: "X Key", template: "{secret}" }, false, "a blank in the name"],
  [{ kind: "header", name: "X:Key", template: "{secret}" }, false, "a colon in the name"],
  [{ kind: "header", name: ":path", template: "{secret}" }, false, "a pseudo header"],
  [{ kind: "header", name: "X\r\nHost", template: "{secret}" }, false, "a line break in the name"],
  [{ kind: "header", name: "", template: "{secret}" }, false, "no name"],
  [{ kind: "header", name: "x".repeat(129), template: "{secret}" }, false, "a name too long"],
  [{ kind: "header", name: "X-Key", template: "" }, false, "a template without the secret"],
  [{ kind: "header", name: "X-Key", template: "secret" }, false, "a template without the secret"],
  [{ kind: "header", name: "X-Key", template: "{secret} {secret}" }, false, "the secret twice"],
  [{ kind: "header", name: "X-Key", template: "{secret}{secret}" }, false, "the secret twice"],
  [{ kind: "header", name: "X-Key", template: "{secret}\r\nHost: x" }, false, "a line break in the template"],
  [{ kind: "header", name: "X-Key", template: "{secret}\n" }, false, "a line break at the end"],
  [{ kind: "header", name: "X-Key", template: "é{secret}" }, false, "a template that is not ASCII"],
  [{ kind: "basic", username: "a:b" }, false, "a colon in the user name (RFC 7617)"],
  [{ kind: "basic", username: "" }, false, "no user name"],
  [{ kind: "basic", username: "a b" }, false, "a blank in the user name"],
  [{ kind: "basic", username: "a\n" }, false, "a line break in the user name"],
  [{ kind: "query", name: "a=b" }, false, "an equals sign"],
  [{ kind: "query", name: "a&b" }, false, "an ampersand"],
  [{ kind: "query", name: "a%26" }, false, "an escape"],
  [{ kind: "query", name: "" }, false, "no name"],
];

for (const [placement, allowed, why] of PLACEMENTS) {
  Deno.test(`readPolicy() ${allowed ? "accepts" : "refuses"} a placement: ${why} (B52)`, async () => {
    await (allowed ? accepts : refuses)({ placement });
  });
}

Deno.test("readPolicy() refuses limits outside their bounds", async () => {
  await accepts(limits({ max_seconds: 1, max_body_bytes: 0 }));
  await accepts(limits({ max_seconds: 2_592_000, max_body_bytes: 67_108_864 }));
  for (
    const change of [
      { max_seconds: 0 },
      { max_seconds: 2_592_001 },
      { max_seconds: 1.5 },
      { max_seconds: "60" },
      { max_body_bytes: -1 },
      { max_body_bytes: 67_108_865 },
      { private_network: "yes" },
      { private_network: null },
      { other: 1 },
    ]
  ) await refuses(limits(change), JSON.stringify(change));
});

Deno.test("readPolicy() ties version 1, and only it, to having no previous version", async () => {
  await accepts({ version: 1, prev: null });
  await accepts({ version: 2, prev: anyHash(1) });
  await refuses({ version: 2, prev: null });
  await refuses({ version: 1, prev: anyHash(1) });
  await refuses({ version: 0, prev: null });
});

Deno.test("readPolicy() refuses a policy that lacks a member, has one too many, or is none", async () => {
  for (const member of Object.keys(samplePolicy())) {
    const { [member]: _, ...rest } = { ...samplePolicy() } as Record<string, unknown>;
    assert.equal(await kindOf(() => readPolicy(rest)), "bad_request", member);
  }
  await refuses({ allow_all: true });
  await refuses({ v: 2 });
  for (const value of [null, undefined, [], "policy", 1]) {
    assert.equal(await kindOf(() => readPolicy(value)), "bad_request");
  }
});

Deno.test("readPolicy() says which rule was broken (B07)", async () => {
  const error = await errorOf(() => readPolicy(samplePolicy({ origins: ["https://*.example.test"] })));
  assert.match(error.message, /origin.*wildcard/);
  const methods = await errorOf(() => readPolicy({ ...samplePolicy(), ...rule({ methods: ["TRACE"] }) }));
  assert.match(methods.message, /TRACE/);
});
