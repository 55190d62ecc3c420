import assert from "node:assert/strict";
import fc from "fast-check";
import { coolDownKey, coolDownMs, FATIGUE, type FatigueCounts, mayAsk } from "./fatigue.ts";
import { REQUEST_TYPES } from "./request.ts";
import { anyHash, sampleRequest } from "./testdata/samples.ts";

const quiet: FatigueCounts = {
  pending_of_agent: 0,
  pending_total: 0,
  cards_last_hour_of_agent: 0,
  cards_last_hour_total: 0,
  hour_frees_ms: 77,
};

const ROWS: [name: string, counts: Partial<FatigueCounts>, until_ms: number | null | "allowed"][] = [
  ["nothing", {}, "allowed"],
  ["one below every limit", {
    pending_of_agent: 7,
    pending_total: 31,
    cards_last_hour_of_agent: 19,
    cards_last_hour_total: 59,
  }, "allowed"],
  ["8 pending of this agent", { pending_of_agent: 8, pending_total: 8 }, null],
  ["more than 8 pending of this agent", { pending_of_agent: 9, pending_total: 9 }, null],
  ["32 pending in all, none of this agent", { pending_total: 32 }, null],
  ["33 pending in all", { pending_total: 33 }, null],
  ["20 cards of this agent within an hour", { cards_last_hour_of_agent: 20, cards_last_hour_total: 20 }, 77],
  ["21 cards of this agent within an hour", { cards_last_hour_of_agent: 21 }, 77],
  ["60 cards in all within an hour, under 60 names", {
    cards_last_hour_of_agent: 1,
    cards_last_hour_total: 60,
  }, 77],
  ["61 cards in all within an hour", { cards_last_hour_total: 61 }, 77],
];

for (const [name, counts, expected] of ROWS) {
  Deno.test(`mayAsk() ${expected === "allowed" ? "allows" : "refuses"} one more card after ${name} (B148)`, () => {
    const verdict = mayAsk({ ...quiet, ...counts });
    assert.equal(verdict.ok ? "allowed" : verdict.until_ms, expected);
    if (!verdict.ok) assert.match(verdict.why, /\d+ (requests|times)/);
  });
}

Deno.test("coolDownMs() is 10 minutes, doubles, and ends at 24 hours", () => {
  const minutes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 50, 1e9].map((count) => coolDownMs(count) / 60_000);
  assert.deepEqual(minutes, [10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440, 1440]);
  assert.deepEqual([coolDownMs(0), coolDownMs(-5)], [FATIGUE.cool_down_ms, FATIGUE.cool_down_ms]);
});

const http = (url: string, change: object = {}) => {
  const doc = sampleRequest("http", change);
  return { ...doc, http: { ...doc.http, url } };
};
const base = coolDownKey(http("https://api.github.test/repos/a"));

const SAME: [name: string, url: string][] = [
  ["a query", "https://api.github.test/repos/a?x=1"],
  ["a fragment", "https://api.github.test/repos/a#x"],
  ["an empty query", "https://api.github.test/repos/a?"],
  ["letter case", "https://API.github.test/Repos/A"],
  ["repeated slashes", "https://api.github.test//repos///a"],
  ["a slash at the end", "https://api.github.test/repos/a/"],
  ["slashes at the end", "https://api.github.test/repos/a//"],
  ["the default port", "https://api.github.test:443/repos/a"],
  ["dot segments", "https://api.github.test/x/../repos/./a"],
  ["letters that need no escape", "https://api.github.test/%72epos/%61"],
  ["letters that need no escape, in capitals", "https://api.github.test/%52epos/%41"],
];

for (const [name, url] of SAME) {
  Deno.test(`coolDownKey() does not depend on ${name}`, () => assert.equal(coolDownKey(http(url)), base));
}

const OTHER: [name: string, url: string][] = [
  ["the host", "https://api.gitlab.test/repos/a"],
  ["the scheme", "http://api.github.test/repos/a"],
  ["the port", "https://api.github.test:8443/repos/a"],
  ["the path", "https://api.github.test/repos/b"],
  ["a longer path", "https://api.github.test/repos/a/b"],
  ["an encoded slash", "https://api.github.test/repos%2fa"],
];

for (const [name, url] of OTHER) {
  Deno.test(`coolDownKey() tells apart ${name}`, () => assert.notEqual(coolDownKey(http(url)), base));
}

Deno.test("coolDownKey() tells apart method, handle, name and type", () => {
  const doc = sampleRequest("http");
  const keys = [
    ...REQUEST_TYPES.map((type) => coolDownKey(sampleRequest(type))),
    coolDownKey({ ...doc, http: { ...doc.http, method: "DELETE" } }),
    coolDownKey({ ...doc, handle: "custos:gitlab" }),
    coolDownKey(sampleRequest("drop", { name: "gitlab" })),
    coolDownKey(sampleRequest("access", { handle: "custos:gitlab" })),
  ];
  assert.equal(new Set(keys).size, keys.length);
});

Deno.test("coolDownKey() does not depend on agent, query, headers, body, reason, wishes or the daemon's own fields", () => {
  const text = fc.string({ maxLength: 20 });
  fc.assert(
    fc.property(text, text, text, text, fc.nat(), (agent, reason, query, header, n) => {
      const doc = http(`https://api.github.test/repos/a?${encodeURIComponent(query)}`, {
        id: "aaaaaaaaaaaaaaaaaaaaaaaaaa",
        agent: { name: agent, client: { name: agent, version: reason } },
        reason,
        nonce: anyHash(n % 256),
        created_ms: n,
        policy_hash: anyHash(n % 256),
        wanted: { uses: n, seconds: n, methods: [header], path_prefix: query },
      });
      const http_ = {
        ...doc.http,
        headers: [["x-a", header]] as [string, string][],
        body_sha256: anyHash(1),
        body_bytes: n,
      };
      assert.equal(coolDownKey({ ...doc, http: { ...http_, body_preview: query } }), base);
    }),
  );
  const drop = sampleRequest("drop");
  assert.equal(coolDownKey({ ...drop, suggest: {}, reason: "x" }), coolDownKey(drop));
});
