import assert from "node:assert/strict";
import fc from "fast-check";
import { covers, type Grant, type GrantScope, isOnce, readGrant, type Use } from "./grant.ts";
import type { Policy } from "./policy.ts";
import { withinPrefix } from "./target_path.ts";
import { anyHash, kindOf, sampleGrant, samplePolicy } from "./testdata/samples.ts";

const policy = samplePolicy({
  origins: ["https://api.github.test", "https://uploads.github.test"],
  rules: [
    { methods: ["GET"], path_prefix: "/" },
    { methods: ["GET", "POST"], path_prefix: "/repos" },
  ],
});

const once = sampleGrant();
const timed = sampleGrant({
  scope: { origins: ["https://api.github.test"], methods: ["GET", "POST"], path_prefix: "/repos/a" },
  seconds: 900,
  max_uses: 100,
});
const scope = (change: Partial<GrantScope>, of: Grant = timed) => ({ scope: { ...of.scope, ...change } });
const kind = (change: object, of: Grant = timed, under: Policy = policy) =>
  kindOf(() => readGrant({ ...of, ...change }, under));

const READ: [name: string, change: object, allowed: boolean, of?: Grant][] = [
  ["as the phone offers it", {}, true],
  ["as the phone offers it once", {}, true, once],
  ["for fewer methods", scope({ methods: ["GET"] }), true],
  ["for both origins", scope({ origins: policy.origins }), true],
  ["as long as the policy allows", { seconds: 3600 }, true],
  ["for exactly one path", { scope: { ...once.scope, content_sha256: undefined } }, true, once],
  ["for the nameless agent", { agent: null }, true],
  // another secret, another shape
  ["of another secret", { secret_id: "aaaaaaaaaaaaaaaaaaaaaaaaaa" }, false],
  ["with path and prefix", scope({ path: "/repos/a" }), false],
  ["with neither path nor prefix", scope({ path_prefix: undefined }), false],
  ["with an unknown member", { scope_all: true }, false],
  ["with an unknown member in its scope", scope({ any: true } as Partial<GrantScope>), false],
  ["without seconds", { seconds: undefined }, false],
  ["without an agent member", { agent: undefined }, false],
  ["for an agent without a name", { agent: "" }, false],
  // wider origins
  ["for an origin outside", scope({ origins: ["https://evil.test"] }), false],
  [
    "for an origin outside, beside one inside",
    scope({ origins: [...policy.origins, "https://evil.test"] }),
    false,
  ],
  ["for an origin spelt with its port", scope({ origins: ["https://api.github.test:443"] }), false],
  ["for a wildcard origin", scope({ origins: ["*"] }), false],
  ["for no origin", scope({ origins: [] }), false],
  // wider methods
  ["for a method outside", scope({ methods: ["DELETE"] }), false],
  ["for a method outside, beside one inside", scope({ methods: ["GET", "DELETE"] }), false],
  ["for a method in small letters", scope({ methods: ["get"] }), false],
  ["for no method", scope({ methods: [] }), false],
  // wider paths
  ["for a method of a narrower rule", scope({ path_prefix: "/" }), false],
  ["for the parent of a rule's prefix", scope({ path_prefix: "/repo" }), false],
  ["for the sibling of a rule's prefix", scope({ path_prefix: "/repos-private" }), false],
  ["for another letter case", scope({ path_prefix: "/Repos/a" }), false],
  ["for a path without a rule", { scope: { ...once.scope, path: "/admin" } }, false, once],
  ["for an empty path", scope({ path_prefix: "" }), false],
  // longer
  ["for longer than the policy", { seconds: 3601 }, false],
  ["for no time", { seconds: 0 }, false],
  ["for half a second", { seconds: 0.5 }, false],
  ["for no use", { max_uses: 0 }, false],
  ["for endless uses", { max_uses: Infinity }, false],
];

for (const [name, change, allowed, of = timed] of READ) {
  Deno.test(`readGrant() ${allowed ? "accepts" : "refuses"} a grant ${name}`, async () => {
    assert.equal(await kind(change, of), allowed ? null : "bad_request");
  });
}

Deno.test("readGrant() lets a grant for one exact request live 10 minutes under any policy, and no longer", async () => {
  const short = samplePolicy({ limits: { max_seconds: 60, max_body_bytes: 0, private_network: false } });
  assert.equal(await kind({ seconds: 600 }, once, short), null);
  assert.equal(await kind({ seconds: 601 }, once, short), "bad_request");
  assert.equal(await kind({ seconds: 61, max_uses: 2 }, once, short), "bad_request");
  assert.equal(await kind({ seconds: 61 }, sampleGrant({ ...timed, max_uses: 1 }), short), "bad_request");
});

Deno.test("isOnce() needs one use and one exact request", () => {
  assert.equal(isOnce(once), true);
  assert.equal(isOnce({ ...once, max_uses: 2 }), false);
  assert.equal(isOnce({ ...once, scope: { ...once.scope, content_sha256: undefined } }), false);
});

const use: Use = {
  agent: "codex",
  origin: "https://api.github.test",
  method: "POST",
  path: "/repos/a/b/issues",
  content_sha256: once.scope.content_sha256!,
};

const COVERS: [name: string, grant: Grant, change: Partial<Use>, covered: boolean][] = [
  ["the exact request", once, {}, true],
  ["another content", once, { content_sha256: anyHash(1) }, false],
  ["another path", once, { path: "/repos/a/b/issues/1" }, false],
  ["another method", once, { method: "PUT" }, false],
  ["another origin", once, { origin: "https://uploads.github.test" }, false],
  ["another agent", once, { agent: "other" }, false],
  ["the nameless agent", once, { agent: null }, false],
  ["any content", timed, { content_sha256: anyHash(1) }, true],
  ["the prefix itself", timed, { path: "/repos/a" }, true],
  ["a path below", timed, { path: "/repos/a/x" }, true],
  ["a sibling with the same beginning", timed, { path: "/repos/ab" }, false],
  ["a sibling with a dash", timed, { path: "/repos/a-admin" }, false],
  ["the parent", timed, { path: "/repos" }, false],
  ["another letter case", timed, { path: "/Repos/a" }, false],
  [
    "a path that leaves the prefix when a server decodes it (B18)",
    timed,
    { path: "/repos/a/..%2fadmin" },
    false,
  ],
  ["a path with encoded dots under the prefix (B18)", timed, { path: "/repos/a/%252e%252e/admin" }, false],
  [
    "an encoded slash where the grant is for everything",
    { ...timed, scope: { ...timed.scope, path_prefix: "/" } },
    { path: "/repos/a%2fb" },
    true,
  ],
  ["a method in small letters", timed, { method: "post" }, false],
  ["an origin with its port", timed, { origin: "https://api.github.test:443" }, false],
  [
    "the nameless agent's use under its grant",
    { ...timed, agent: null },
    { agent: null, path: "/repos/a" },
    true,
  ],
  ["a named agent under the nameless agent's grant", { ...timed, agent: null }, { path: "/repos/a" }, false],
];

for (const [name, grant, change, covered] of COVERS) {
  Deno.test(`covers() ${covered ? "covers" : "does not cover"} ${name}`, () => {
    assert.equal(covers(grant, { ...use, ...change }), covered);
  });
}

Deno.test("covers() denies where a scope has neither path nor prefix", () => {
  const { path: _, ...rest } = once.scope;
  assert.equal(covers({ ...once, scope: rest }, use), false);
});

Deno.test("readGrant() accepts no grant that covers what the policy has no rule for", () => {
  const methods = ["GET", "POST", "DELETE"];
  const paths = ["/", "/repos", "/repos/", "/repos/a", "/repos/ab", "/reposx", "/admin"];
  const origins = [...policy.origins, "https://evil.test"];
  const one = <T>(values: T[]) => fc.subarray(values, { minLength: 1 });
  fc.assert(
    fc.property(
      one(methods),
      one(origins),
      fc.constantFrom(...paths),
      fc.boolean(),
      fc.constantFrom(...methods),
      fc.constantFrom(...origins),
      fc.constantFrom(...paths),
      (granted, at, where, exact, method, origin, path) => {
        const scope = {
          origins: at,
          methods: granted,
          ...(exact ? { path: where } : { path_prefix: where }),
        };
        let grant: Grant;
        try {
          grant = readGrant({ ...timed, scope }, policy);
        } catch {
          return;
        }
        if (!covers(grant, { agent: "codex", method, origin, path, content_sha256: "" })) return;
        const ruled = policy.rules.some((rule) =>
          rule.methods.includes(method) && withinPrefix(path, rule.path_prefix)
        );
        assert.ok(ruled && policy.origins.includes(origin));
      },
    ),
    { numRuns: 2_000 },
  );
});
