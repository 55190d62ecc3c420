import assert from "node:assert/strict";
import { tokenHint } from "./token_hint.ts";
import {
  changedParts,
  lastingText,
  policySentence,
  sizeText,
  type SpokenPolicy,
  wideningText,
} from "./policy_text.ts";
import { providerOf, PROVIDERS } from "./providers.ts";
import { checkOrigin } from "@custos/core/policy";

const GITHUB: SpokenPolicy = {
  name: "github",
  origins: ["https://api.github.com"],
  rules: [{ methods: ["GET", "POST"], path_prefix: "/repos/" }],
  placement: { kind: "bearer" },
  limits: { max_seconds: 28_800, max_body_bytes: 16_777_216, private_network: false },
};

Deno.test("policySentence() says host, methods, paths, place and time of every policy", () => {
  const limits = { max_seconds: 5_400, max_body_bytes: 1, private_network: true };
  const rows: [string, Partial<SpokenPolicy>][] = [
    [
      "custos:github may be sent to api.github.com, GET and POST under /repos/, as a Bearer token, for at most 8 h at a time.",
      {},
    ],
    [
      "custos:github may be sent to a.test, b.test:8443 and c.test, GET, POST and PUT under /v1/; DELETE under /tmp/, " +
      "in the header x-api-key, for at most 8 h at a time.",
      {
        origins: ["https://a.test", "https://b.test:8443", "https://c.test"],
        rules: [{ methods: ["GET", "POST", "PUT"], path_prefix: "/v1/" }, {
          methods: ["DELETE"],
          path_prefix: "/tmp/",
        }],
        placement: { kind: "header", name: "x-api-key", template: "{secret}" },
      },
    ],
    [
      "custos:github may be sent to http://nas.local (not encrypted), GET and POST under /repos/, as the password of me, " +
      "for at most 90 min at a time. It may reach your own network.",
      { origins: ["http://nas.local"], placement: { kind: "basic", username: "me" }, limits },
    ],
    [
      'custos:github may be sent to api.github.com, GET and POST under /repos/, in the header authorization as "Bot {secret}", ' +
      "for at most 8 h at a time.",
      { placement: { kind: "header", name: "authorization", template: "Bot {secret}" } },
    ],
    [
      "custos:github may be sent to api.github.com, GET and POST under /repos/, in the query as key, for at most 8 h at a time.",
      { placement: { kind: "query", name: "key" } },
    ],
  ];
  for (const [said, change] of rows) assert.equal(policySentence({ ...GITHUB, ...change }), said);
});

Deno.test("lastingText() and sizeText() are exact", () => {
  const times: [number, string][] = [
    [90, "90 s"],
    [900, "15 min"],
    [3_600, "1 h"],
    [86_400, "24 h"],
    [
      172_800,
      "2 days",
    ],
    [2_592_000, "30 days"],
    [3_601, "3601 s"],
  ];
  for (const [seconds, text] of times) assert.equal(lastingText(seconds), text);
  const sizes: [number, string][] = [[0, "0 B"], [512, "512 B"], [2_048, "2 KiB"], [16_777_216, "16 MiB"], [
    16_777_217,
    "16777217 B",
  ]];
  for (const [bytes, text] of sizes) assert.equal(sizeText(bytes), text);
});

Deno.test("changedParts() names exactly the parts that differ", () => {
  assert.deepEqual(changedParts(GITHUB, GITHUB), []);
  const next: SpokenPolicy = {
    ...GITHUB,
    origins: [...GITHUB.origins, "https://uploads.github.com"],
    limits: { ...GITHUB.limits, max_seconds: 60, private_network: true },
  };
  assert.deepEqual(changedParts(GITHUB, next), [
    { part: "Goes to", before: "api.github.com", after: "api.github.com and uploads.github.com" },
    { part: "Longest grant", before: "8 h", after: "1 min" },
    { part: "Own network", before: "may not be reached", after: "may be reached" },
  ]);
});

Deno.test("wideningText() says each way in which a version allows more", () => {
  const rows: [Parameters<typeof wideningText>[0], string][] = [
    [
      { what: "origin", origin: "http://nas.local" },
      "It may also be sent to http://nas.local (not encrypted).",
    ],
    [{ what: "rule", method: "DELETE", path_prefix: "/" }, "DELETE under / is new."],
    [{ what: "seconds", from: 60, to: 3_600 }, "A grant may last 1 h, before 1 min."],
    [{ what: "body", from: 0, to: 1_024 }, "A body may have 1 KiB, before 0 B."],
    [{ what: "private_network" }, "It may reach your own network."],
    [{ what: "placement" }, "It goes to another place in the request."],
  ];
  for (const [widening, said] of rows) assert.equal(wideningText(widening), said);
});

Deno.test("providerOf() finds a provider by its name, and nothing that only looks like one", () => {
  const rows: [string, string | null][] = [
    ["github", "GitHub"],
    ["github-work", "GitHub"],
    ["stripe_live", "Stripe"],
    ["mygithub", null],
    ["constructor", null],
    ["__proto__", null],
    ["", null],
  ];
  for (const [name, label] of rows) assert.equal(providerOf(name)?.label ?? null, label, name);
});

Deno.test("PROVIDERS holds origins that a policy may name, and agrees with tokenHint()", () => {
  for (const [name, { origin }] of Object.entries(PROVIDERS)) {
    checkOrigin(origin, false);
    assert.match(name, /^[a-z]+$/);
  }
  const keys: [string, string][] = [
    ["ghp_x", "github"],
    ["glpat-x", "gitlab"],
    ["sk_live_x", "stripe"],
    [
      "xoxb-x",
      "slack",
    ],
    ["sk-ant-x", "anthropic"],
    ["SG.x", "sendgrid"],
    ["hf_x", "huggingface"],
    [
      "dop_v1_x",
      "digitalocean",
    ],
    ["lin_api_x", "linear"],
  ];
  for (const [key, name] of keys) {
    assert.equal(tokenHint(key, [PROVIDERS[name]!.origin]), null, name);
    assert.notEqual(tokenHint(key, ["https://elsewhere.test"]), null, name);
  }
});
