import assert from "node:assert/strict";
import {
  asksForPrivateNetwork,
  formFor,
  formOf,
  type FormPart,
  originsOf,
  type PolicyForm,
  readForm,
} from "./policy_form.ts";

Deno.test("formFor() takes an origin from the table of well-known names only", () => {
  const rows: [string, string, string][] = [
    ["github", "https://api.github.com", "bearer"],
    ["gitlab-team", "https://gitlab.com", "header"],
    ["openweather", "https://api.openweathermap.org", "query"],
    ["intranet", "", "bearer"],
  ];
  for (const [name, origins, place] of rows) {
    const form = formFor(name);
    assert.deepEqual([form.origins, form.place], [origins, place], name);
  }
});

Deno.test("originsOf() writes origins as they would be signed", () => {
  const rows: [string, string[]][] = [
    ["api.github.com", ["https://api.github.com"]],
    ["https://API.github.com/repos/x?y", ["https://api.github.com"]],
    ["https://a.test:443, b.test:8443\n c.test", ["https://a.test", "https://b.test:8443", "https://c.test"]],
    ["a.test a.test/", ["https://a.test"]],
    ["https://api.github.com@evil.test", ["https://api.github.com@evil.test"]],
    ["bücher.test", ["https://xn--bcher-kva.test"]],
    ["", []],
  ];
  for (const [text, origins] of rows) assert.deepEqual(originsOf(text), origins, text);
});

Deno.test("asksForPrivateNetwork() finds hosts that are inside or not encrypted", () => {
  const rows: [string, boolean][] = [
    ["api.github.com", false],
    ["http://api.github.com", true],
    ["127.0.0.1:8080", true],
    ["http://localhost:3000", true],
    ["nas", true],
    ["192.168.1.4", true],
    ["8.8.8.8", false],
    ["", false],
  ];
  for (const [text, asks] of rows) assert.equal(asksForPrivateNetwork(text), asks, text);
});

Deno.test("readForm() gives the fields of a good form", () => {
  const good = readForm({ ...formFor("github"), rules: [{ methods: ["GET"], path_prefix: "/repos/" }] });
  assert.deepEqual(good, {
    ok: true,
    fields: {
      name: "github",
      origins: ["https://api.github.com"],
      placement: { kind: "bearer" },
      rules: [{ methods: ["GET"], path_prefix: "/repos/" }],
      max_seconds: 28_800,
      private_network: false,
    },
  });
  const inside = readForm({ ...formFor("nas"), origins: "http://nas.local", private_network: true });
  assert.equal(inside.ok && inside.fields.private_network, true);
  const outside = readForm({ ...formFor("github"), private_network: true });
  assert.equal(outside.ok && outside.fields.private_network, false);
});

Deno.test("readForm() names the part that is wrong, and gives no fields", () => {
  const rules = (path_prefix: string, methods = ["GET"]) => ({ rules: [{ methods, path_prefix }] });
  const rows: [string, Partial<PolicyForm>, FormPart][] = [
    ["no name", { name: "" }, "name"],
    ["a name with a blank", { name: "a b" }, "name"],
    ["a name in capitals", { name: "GitHub" }, "name"],
    ["no origin", { origins: " " }, "origins"],
    ["a wildcard", { origins: "*.github.com" }, "origins"],
    ["a trailing dot", { origins: "api.github.com." }, "origins"],
    ["a user part", { origins: "https://api.github.com@evil.test" }, "origins"],
    ["another scheme", { origins: "ftp://api.github.com" }, "origins"],
    ["plain http that was not allowed", { origins: "http://api.github.com" }, "origins"],
    ["an inside name that was not allowed", { origins: "nas.local" }, "origins"],
    ["a header without a name", { place: "header" }, "place"],
    ["a template without the secret", { place: "header", place_name: "x-key", template: "Token" }, "place"],
    ["a user with a colon", { place: "basic", place_name: "a:b" }, "place"],
    ["a query without a name", { place: "query" }, "place"],
    ["no rule", { rules: [] }, "rules"],
    ["no method", rules("/", []), "rules"],
    ["a path without a slash", rules("repos"), "rules"],
    ["dot segments", rules("/a/../b"), "rules"],
    ["an encoded slash", rules("/a%2Fb"), "rules"],
    ["a query in the path", rules("/a?b"), "rules"],
    ["a method that no rule may name", rules("/", ["TRACE"]), "rules"],
    ["no time", { max_seconds: Number.NaN }, "grant"],
    ["more than 30 days", { max_seconds: 2_592_001 }, "grant"],
  ];
  for (const [name, change, part] of rows) {
    const outcome = readForm({ ...formFor("github"), ...change });
    assert.deepEqual(outcome.ok ? [] : Object.keys(outcome.problems), [part], name);
    assert.ok(outcome.ok || outcome.problems[part] !== "", name);
  }
});

Deno.test("formOf() gives a form that reads back to the same policy", () => {
  const placements = [
    { kind: "bearer" },
    { kind: "header", name: "x-key", template: "Token {secret}" },
    { kind: "basic", username: "me" },
    { kind: "query", name: "key" },
  ] as const;
  for (const placement of placements) {
    const fields = {
      name: "demo",
      origins: ["https://a.test", "https://b.test"],
      placement,
      private_network: false,
    };
    const rules = [{ methods: ["GET"], path_prefix: "/v1/" }, {
      methods: ["PUT", "DELETE"],
      path_prefix: "/x/",
    }];
    const form = formOf({
      v: 1,
      secret_id: "a".repeat(26),
      version: 1,
      prev: null,
      request_hash: null,
      epoch: "b".repeat(26),
      created_ms: 1,
      name: fields.name,
      origins: fields.origins,
      placement,
      rules,
      limits: { max_seconds: 60, max_body_bytes: 5, private_network: false },
    });
    assert.deepEqual(readForm(form), { ok: true, fields: { ...fields, rules, max_seconds: 60 } });
  }
});
