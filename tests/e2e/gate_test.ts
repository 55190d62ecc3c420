/** What the daemon sends and what it does not: policy, grants, one sending, scrubbing, lock and revoke. */

import assert from "node:assert/strict";
import { HANDLE, type HttpAsk, S, SHARED, shareHouse } from "./harness.ts";
import { McpAgent } from "./harness_mcp.ts";
import { failure } from "./harness_wait.ts";

const house = shareHouse();

/** What a request may be wrong in, and the refusal. The URL is made for the two stubs. */
const REFUSED: [string, (api: string, evil: string) => string, Omit<HttpAsk, "agent">, string][] = [
  ["another host", (_api, evil) => `${evil}/v1/x`, {}, "host_not_allowed"],
  [
    "the right name before an @ (B01)",
    (api, evil) => `${evil.replace("//", `//${api.slice(7)}@`)}/v1/x`,
    {},
    "host_not_allowed",
  ],
  ["login data (B05)", (api) => `${api.replace("//", "//bob:hunter2@")}/v1/x`, {}, "host_not_allowed"],
  ["another port", () => "http://127.0.0.1:9/v1/x", {}, "host_not_allowed"],
  ["another scheme", (api) => `${api.replace("http:", "https:")}/v1/x`, {}, "host_not_allowed"],
  [
    "another spelling of the host",
    (api) => `${api.replace("127.0.0.1", "localhost")}/v1/x`,
    {},
    "host_not_allowed",
  ],
  ["a backslash (B03)", (api) => `${api}\\@evil.test/v1/x`, {}, "bad_request"],
  ["another path", (api) => `${api}/admin`, {}, "path_not_allowed"],
  ["a path beside the prefix (B20)", (api) => `${api}/v1x`, {}, "path_not_allowed"],
  ["dot segments", (api) => `${api}/v1/../admin`, {}, "path_not_allowed"],
  ["encoded dot segments", (api) => `${api}/v1/%2e%2e/admin`, {}, "path_not_allowed"],
  ["an encoded slash", (api) => `${api}/v1/..%2fadmin`, {}, "path_not_allowed"],
  ["another method", (api) => `${api}/v1/x`, { method: "DELETE" }, "method_not_allowed"],
  ["a method in the query (B48)", (api) => `${api}/v1/x?_method=DELETE`, {}, "method_not_allowed"],
  [
    "its own Authorization (B54)",
    (api) => `${api}/v1/x`,
    { headers: [["Authorization", "Bearer x"]] },
    "header_not_allowed",
  ],
  ["another Host", (api) => `${api}/v1/x`, { headers: [["host", "evil.test"]] }, "header_not_allowed"],
  [
    "a line break in a header (B37)",
    (api) => `${api}/v1/x`,
    { headers: [["x-a", "b\r\nx-c: d"]] },
    "header_not_allowed",
  ],
  [
    "a method override (B48)",
    (api) => `${api}/v1/x`,
    { headers: [["X-HTTP-Method-Override", "PUT"]] },
    "header_not_allowed",
  ],
  ["an unknown secret", (api) => `${api}/v1/x`, { handle: "custos:unknown" }, "unknown_handle"],
];

Deno.test(
  "the daemon refuses by policy before anybody is asked: no connection, no card, one entry",
  SHARED,
  async (t) => {
    const h = house();
    await h.dropSecret("narrow", "narrow_value_0123456789", {
      rules: [{ methods: ["GET", "POST"], path_prefix: "/v1/" }],
    });
    for (const [what, url, ask, kind] of REFUSED) {
      await t.step({
        ...SHARED,
        name: what,
        fn: async () => {
          const [before, cards] = [await h.logSize(), (await h.phone.cards()).length];
          const call = h.http(url(h.api.origin, h.evil.origin), {
            handle: "custos:narrow",
            ...ask,
            agent: "policy",
          });
          const error = await failure(call);
          assert.deepEqual([error.kind, error.id], [kind, undefined]);
          assert.ok(await h.phone.sync(10_000));
          const log = await h.log(before);
          assert.deepEqual(log.map((leaf) => [leaf.event, leaf.why]), [["request_refused", kind]]);
          assert.equal((await h.phone.cards()).length, cards);
          assert.deepEqual([h.api.connections, h.evil.connections], [0, 0]);
          assert.ok(!JSON.stringify(log).includes("hunter2"));
        },
      });
    }
    const ran = await h.custos("policy", ["http", "--handle", "narrow", `${h.evil.origin}/v1/x`]);
    assert.deepEqual([ran.code, ran.stdout], [7, ""]);
  },
);

Deno.test("a redirect is handed back and not followed", SHARED, async () => {
  const h = house();
  const path = `/redirect?to=${h.evil.origin}/stolen`;
  const asked = await h.ask(path, { agent: "redirect" });
  await h.approve(asked.id);
  const answer = await h.http(path, { agent: "redirect" });
  assert.equal(answer.status_code, 302);
  const location = answer.headers.find(([name]) => name === "location")?.[1];
  assert.equal(location, `${h.evil.origin}/stolen`);
  assert.deepEqual([h.evil.connections, h.api.count(path)], [0, 1]);
});

Deno.test(
  "an API that echoes the secret gives back its name, inline, streamed and through MCP",
  SHARED,
  async () => {
    const h = house();
    await using mcp = await McpAgent.start(h.values, "echo");
    const asked = await h.ask("/echo", { agent: "echo" });
    await h.approve(asked.id, { kind: "path" });
    const inline = await h.http("/echo", { agent: "echo" });
    const streamed = await h.custos("echo", ["http", "-i", "--handle", HANDLE, `${h.api.origin}/echo`]);
    const called = await mcp.call("http_request", {
      handle: HANDLE,
      reason: "r",
      url: `${h.api.origin}/echo`,
    });
    assert.equal(h.api.count("/echo"), 3);
    assert.ok(
      h.api.seen.every(({ path, head }) => path !== "/echo" || head.includes(`Bearer ${S}`)),
      "it was sent",
    );
    assert.ok(inline.redactions >= 2 && streamed.code === 0);
    for (const text of [JSON.stringify(inline), streamed.stdout + streamed.stderr, JSON.stringify(called)]) {
      assert.ok(text.includes("[custos:demo-key]") && !text.includes(S), text);
    }
  },
);

Deno.test("a POST is sent once, byte for byte as it was shown", SHARED, async () => {
  const h = house();
  const data = '{"amount": 100,  "note":"é \\u0041"}\n';
  const ask: HttpAsk = {
    agent: "posts",
    method: "POST",
    headers: [["content-type", "application/json"]],
    body: { encoding: "utf8", data },
  };
  const asked = await h.ask("/post", ask);
  const { message: { doc } } = await h.card(asked.id);
  assert.ok(doc.type === "http" && doc.http.body_preview === data);
  await h.approve(asked.id);
  assert.equal((await h.http("/post", ask)).status_code, 200);
  const [seen, ...more] = h.api.seen.filter(({ path }) => path === "/post");
  assert.equal(more.length, 0);
  assert.equal(new TextDecoder().decode(Uint8Array.from(seen!.body, (c) => c.charCodeAt(0))), data);
  assert.notEqual((await h.ask("/post", ask)).id, asked.id, "another POST is another approval");
});

Deno.test("of many calls at one moment under a once-grant exactly one sends", SHARED, async () => {
  const h = house();
  const asked = await h.ask("/moment", { agent: "moment" });
  await h.approve(asked.id);
  const calls = [1, 2, 3, 4, 5].map(() => h.http("/moment", { agent: "moment" }));
  const ended = await Promise.allSettled(calls);
  const [sent, ...more] = ended.filter((one) => one.status === "fulfilled");
  assert.deepEqual([sent!.value.request_id, more.length], [asked.id, 0]);
  const kinds = ended.filter((one) => one.status === "rejected").map(({ reason }) => reason.kind);
  assert.deepEqual(kinds, Array(4).fill("needs_approval"));
  assert.equal(h.api.count("/moment"), 1);
});

Deno.test(
  "a connection that closes before its answer is outcome_unknown, and the request is not sent again",
  SHARED,
  async () => {
    const h = house();
    for (const method of ["GET", "POST"]) {
      const path = `/cut/${method}`;
      const asked = await h.ask(path, { agent: "cut", method });
      await h.approve(asked.id, { kind: "path" });
      const error = await failure(h.http(path, { agent: "cut", method }));
      assert.deepEqual([error.kind, error.id, error.fingerprint], [
        "outcome_unknown",
        asked.id,
        asked.fingerprint,
      ]);
      assert.equal(h.api.count(path), 1, method);
      const status = await h.client.call("access.status", { request_id: asked.id });
      assert.equal(status.reason, "outcome_unknown");
      assert.equal((await h.logged("outcome_unknown", { id: asked.id })).length, 1);
    }
    const ran = await h.custos("cut", ["http", "--handle", HANDLE, `${h.api.origin}/cut/GET`]);
    assert.equal(ran.code, 5);
  },
);

Deno.test(
  "custos http --fail exits 1 for an upstream error, and 8 where nothing could be reached",
  SHARED,
  async () => {
    const h = house();
    const asked = await h.ask("/status/404", { agent: "fails" });
    await h.approve(asked.id, { kind: "path" });
    const url = `${h.api.origin}/status/404`;
    const plain = await h.custos("fails", ["http", "--handle", HANDLE, url]);
    const fail = await h.custos("fails", ["http", "--handle", HANDLE, "--fail", url]);
    assert.deepEqual([plain.code, plain.stdout, fail.code, fail.stdout], [0, "told to", 1, "told to"]);

    const gone = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const origin = `http://127.0.0.1:${gone.addr.port}`;
    gone.close();
    await h.dropSecret("nowhere", "nowhere_value_0123456789", { origins: [origin] });
    const nowhere = await h.ask(`${origin}/x`, { agent: "fails", handle: "custos:nowhere" });
    await h.approve(nowhere.id);
    assert.equal((await h.custos("fails", ["http", `${origin}/x`])).code, 8);
  },
);

Deno.test("revoke and lock end grants, from the terminal and from the phone", SHARED, async () => {
  const h = house();
  const ends: [string, string, () => Promise<unknown>][] = [
    ["a revoke of one handle", "revoked", () => h.custos("human", ["revoke", HANDLE])],
    ["a revoke of all", "revoked", () => h.client.call("grants.revoke", { all: true })],
    ["a lock at the terminal", "locked", () => h.custos("human", ["lock"])],
    ["a lock on the phone", "locked", () => h.phone.lock()],
  ];
  for (const [at, [what, why, end]] of ends.entries()) {
    const path = `/ends/${at}`;
    const asked = await h.ask(path, { agent: "ends" });
    await h.approve(asked.id, { kind: "path" });
    assert.equal((await h.http(path, { agent: "ends" })).status_code, 200);
    await end();
    const [ended] = await h.logged("grant_ended", { id: asked.id });
    assert.equal(ended!.why, why, what);
    assert.deepEqual((await h.client.call("grants.list", {})).grants, [], what);
    assert.notEqual((await h.ask(path, { agent: "ends" })).id, asked.id, what);
    assert.equal(h.api.count(path), 1, what);
  }
});

Deno.test(
  "a lock aborts what is in flight, and its caller hears that it may have happened",
  SHARED,
  async () => {
    const h = house();
    const asked = await h.ask("/slow/locked", { agent: "aborts" });
    await h.approve(asked.id);
    const call = failure(h.http("/slow/locked", { agent: "aborts" }));
    await h.api.arrival("/slow/locked");
    await h.client.call("daemon.lock", {});
    const error = await call;
    assert.deepEqual([error.kind, error.id, error.fingerprint], [
      "outcome_unknown",
      asked.id,
      asked.fingerprint,
    ]);
    assert.equal((await h.logged("outcome_unknown", { id: asked.id })).length, 1);
    h.api.release();
  },
);
