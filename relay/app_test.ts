import assert from "node:assert/strict";
import { mailboxPath, MESSAGE_BYTES_MAX, messagesPath, pushPath, TTL_MS_MAX } from "@custos/core/relay_wire";
import { mailboxOf, type TestOptions, type TestRelay, withRelay } from "./testing.ts";

const A = mailboxOf("a");
const B = mailboxOf("b");
const JSON_TYPE = { "content-type": "application/json" };
const BYTES_TYPE = { "content-type": "application/octet-stream" };
const SUBSCRIPTION = {
  endpoint: "https://push.example.test/abc",
  keys: { p256dh: "B".padEnd(86, "x") + "A", auth: "a".repeat(21) + "A" },
};

const relayTest = (name: string, options: TestOptions, body: (relay: TestRelay) => Promise<void>) =>
  Deno.test(name, () => withRelay(options, body));

relayTest(
  "createRelay() carries a message from a writer to a reader until it is acknowledged",
  {},
  async (relay) => {
    assert.equal(await relay.make(A), 201);
    const before = Date.now();
    const { status, body } = await relay.post(A, "sealed", { query: "?ttl_ms=60000" });
    assert.equal(status, 201);
    assert.ok((body["expires_ms"] as number) >= before + 60_000);
    assert.deepEqual(await relay.texts(A), ["sealed"]);
    assert.deepEqual(await relay.texts(A), ["sealed"]); // at least once: reading does not remove
    assert.deepEqual(await relay.texts(A, body["seq"] as number), []);
    const ack = `${messagesPath(A.id)}?through=${body["seq"]}`;
    assert.equal((await relay.call("DELETE", ack, { token: A.read })).status, 200);
    assert.deepEqual(await relay.texts(A), []);
  },
);

relayTest("createRelay() carries every byte value and the largest message", {}, async (relay) => {
  await relay.make(A);
  const data = new Uint8Array(MESSAGE_BYTES_MAX).map((_, i) => i % 251 + i % 5);
  const path = messagesPath(A.id);
  assert.equal(
    (await relay.call("POST", path, { token: A.write, body: data, headers: BYTES_TYPE })).status,
    201,
  );
  const { body } = await relay.call("GET", path, { token: A.read });
  const [message] = body["messages"] as { data: string }[];
  assert.deepEqual(Uint8Array.fromBase64(message!.data, { alphabet: "base64url" }), data);
});

relayTest("createRelay() makes a mailbox once, and tells other hashes from the same", {}, async (relay) => {
  assert.deepEqual([await relay.make(A), await relay.make(A)], [201, 200]);
  assert.equal(await relay.make({ ...A, write: B.write }), 409);
  assert.equal((await relay.post(A, "the first hashes still hold")).status, 201);
});

relayTest("createRelay() removes a mailbox with all it holds", {}, async (relay) => {
  await relay.make(A);
  await relay.post(A, "x");
  assert.equal((await relay.call("DELETE", mailboxPath(A.id), { token: A.read })).status, 200);
  assert.equal((await relay.post(A, "x")).status, 404);
  assert.equal(await relay.make(A), 201);
  assert.deepEqual(await relay.texts(A), []);
});

relayTest("createRelay() stores a push subscription for the reader", {}, async (relay) => {
  await relay.make(A);
  const put = (token: string, value: unknown) =>
    relay.call("PUT", pushPath(A.id), { token, body: JSON.stringify(value), headers: JSON_TYPE });
  assert.equal((await put(A.read, SUBSCRIPTION)).status, 200);
  assert.equal((await put(A.read, { ...SUBSCRIPTION, expirationTime: null })).status, 200);
  assert.equal((await put(A.write, SUBSCRIPTION)).status, 401);
  assert.equal((await put(A.read, { ...SUBSCRIPTION, endpoint: "http://127.0.0.1/" })).status, 400);
});

relayTest("createRelay() says that it is well", {}, async (relay) => {
  const { status, body } = await relay.call("GET", "/healthz");
  assert.deepEqual({ status, body }, { status: 200, body: { ok: true } });
});

relayTest("createRelay() does nothing without the right token (B153)", {}, async (relay) => {
  await relay.make(A);
  await relay.post(A, "kept");
  const messages = messagesPath(A.id);
  const rights: [string, string, string | undefined][] = [
    ["GET", messages, undefined],
    ["GET", messages, A.write],
    ["GET", messages, B.read],
    ["GET", messages, A.read.slice(1)],
    ["GET", messages, A.read.slice(0, -1) + "B"], // the same bytes in a second spelling
    ["POST", messages, undefined],
    ["POST", messages, A.read],
    ["DELETE", `${messages}?through=9007199254740991`, A.write],
    ["DELETE", mailboxPath(A.id), A.write],
    ["DELETE", mailboxPath(A.id), undefined],
    ["PUT", pushPath(A.id), A.write],
  ];
  for (const [method, path, token] of rights) {
    const body = method === "POST" || method === "PUT" ? "{}" : undefined;
    const reply = await relay.call(method, path, { token, body, headers: BYTES_TYPE });
    assert.equal(reply.status, 401, `${method} ${path} with ${token}`);
    assert.equal(reply.body["kind"], "unauthorized");
    assert.equal(reply.headers.get("www-authenticate"), "Bearer");
  }
  assert.deepEqual(await relay.texts(A), ["kept"]);
});

relayTest("createRelay() tells a missing mailbox from a missing path", {}, async (relay) => {
  const kinds = [];
  for (const path of [messagesPath(A.id), "/v1/nothing", "/"]) {
    const { status, body } = await relay.call("GET", path, { token: A.read });
    kinds.push([status, body["kind"]]);
  }
  assert.deepEqual(kinds, [[404, "unknown_mailbox"], [404, "unknown_path"], [404, "unknown_path"]]);
});

relayTest("createRelay() refuses malformed requests", {}, async (relay) => {
  await relay.make(A);
  const messages = messagesPath(A.id);
  const post = { token: A.write, body: "x", headers: BYTES_TYPE };
  const put = { body: "{}", headers: JSON_TYPE };
  const read = { token: A.read };
  const requests: [number, string, string, Parameters<TestRelay["call"]>[2]][] = [
    [400, "PUT", "/v1/mailboxes/short", put],
    [400, "PUT", `/v1/mailboxes/${A.id.toUpperCase()}`, put],
    [400, "PUT", mailboxPath(B.id), put],
    [400, "PUT", mailboxPath(B.id), { ...put, body: "[" }],
    [413, "PUT", mailboxPath(B.id), { ...put, body: " ".repeat(5000) }],
    [415, "PUT", mailboxPath(B.id), { ...put, headers: { "content-type": "text/plain" } }],
    [405, "GET", mailboxPath(A.id), read],
    [405, "PATCH", messages, post],
    [400, "POST", messages, { ...post, body: "" }],
    [400, "POST", `${messages}?ttl_ms=0`, post],
    [400, "POST", `${messages}?ttl_ms=-1`, post],
    [400, "POST", `${messages}?ttl_ms=${TTL_MS_MAX + 1}`, post],
    [413, "POST", messages, { ...post, body: new Uint8Array(MESSAGE_BYTES_MAX + 1) }],
    [415, "POST", messages, { ...post, headers: { "content-type": "text/plain" } }],
    [415, "POST", messages, { ...post, headers: JSON_TYPE }],
    [415, "POST", messages, { token: A.write, body: new Uint8Array(1) }],
    [400, "GET", `${messages}?after=-1`, read],
    [400, "GET", `${messages}?after=1e3`, read],
    [400, "GET", `${messages}?wait_ms=25001`, read],
    [400, "DELETE", messages, read],
    [400, "DELETE", `${messages}?through=x`, read],
  ];
  for (const [status, method, path, init] of requests) {
    assert.equal((await relay.call(method, path, init)).status, status, `${method} ${path}`);
  }
  assert.equal((await relay.call("PATCH", messages, post)).headers.get("allow"), "GET, POST, DELETE");
  assert.deepEqual(await relay.texts(A), []);
});

relayTest("createRelay() never repeats what it was sent", {}, async (relay) => {
  await relay.make(A);
  const marked = "MARK1234567890";
  const body = { body: marked, headers: { ...JSON_TYPE, authorization: `Bearer ${marked}`, origin: marked } };
  for (
    const path of [`/v1/mailboxes/${marked}`, mailboxPath(B.id), `/${marked}`, `/v1/mailboxes/${marked}/push`]
  ) {
    const reply = await relay.call("PUT", path, body);
    assert.ok(reply.status >= 400);
    assert.ok(!JSON.stringify([reply.body, [...reply.headers]]).includes(marked), path);
  }
});

relayTest("createRelay() asks for the invite only where a mailbox is made", {
  invite: "an invite for friends",
}, async (relay) => {
  assert.equal(await relay.make(A), 403);
  assert.equal(await relay.make(A, { "custos-invite": "an invite for friendS" }), 403);
  assert.equal((await relay.post(A, "x")).status, 404);
  assert.equal(await relay.make(A, { "custos-invite": "an invite for friends" }), 201);
  assert.equal(await relay.make(A), 403);
  assert.equal((await relay.post(A, "x")).status, 201);
});

relayTest("createRelay() serves pages of the phone app's origins and no others (B153)", {
  origins: ["https://app.example", "http://localhost:4000"],
}, async (relay) => {
  await relay.make(A);
  const preflight = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization",
  };
  for (const origin of ["https://app.example", "http://localhost:4000"]) {
    const asked = await relay.call("OPTIONS", messagesPath(A.id), { headers: { origin, ...preflight } });
    assert.equal(asked.status, 204);
    assert.equal(asked.headers.get("access-control-allow-origin"), origin);
    assert.match(asked.headers.get("access-control-allow-headers") ?? "", /authorization/);
    assert.equal(asked.headers.get("access-control-allow-credentials"), null);
    const read = await relay.call("GET", messagesPath(A.id), { token: A.read, headers: { origin } });
    assert.deepEqual([read.status, read.headers.get("access-control-allow-origin")], [200, origin]);
    const refused = await relay.call("GET", messagesPath(A.id), { headers: { origin } });
    assert.deepEqual([refused.status, refused.headers.get("access-control-allow-origin")], [401, origin]);
  }
  const foreign = ["https://app.example.evil.test", "http://app.example", "https://app.example:8443", "null"];
  for (const origin of foreign) {
    for (const method of ["OPTIONS", "GET"]) {
      const reply = await relay.call(method, messagesPath(A.id), { token: A.read, headers: { origin } });
      assert.deepEqual([reply.status, reply.headers.get("access-control-allow-origin")], [403, null], origin);
    }
  }
});

relayTest("createRelay() forbids storing replies and guessing their type", {}, async (relay) => {
  const { headers } = await relay.call("GET", "/healthz");
  assert.equal(headers.get("cache-control"), "no-store, no-transform");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
});

Deno.test("createRelay() drops messages when their time is over", async () => {
  let now = Date.now();
  await withRelay({ now: () => now }, async (relay) => {
    await relay.make(A);
    await relay.post(A, "short", { query: "?ttl_ms=1000" });
    await relay.post(A, "long");
    now += 1000;
    assert.deepEqual(await relay.texts(A), ["long"]);
    now += TTL_MS_MAX;
    assert.deepEqual(await relay.texts(A), []);
  });
});

relayTest("createRelay() goes on after a restart where it was", {}, async (relay) => {
  await relay.make(A);
  const first = await relay.post(A, "one");
  await relay.post(A, "two");
  await relay.stop();
  await relay.start();
  assert.deepEqual(await relay.texts(A, first.body["seq"] as number), ["two"]);
  await relay.post(A, "three");
  assert.deepEqual(await relay.texts(A), ["one", "two", "three"]);
});

relayTest(
  "createRelay() heals after it lost its data, also for readers with an old position (B152)",
  {},
  async (relay) => {
    await relay.make(A);
    let after = 0;
    for (const text of ["one", "two", "three"]) after = (await relay.post(A, text)).body["seq"] as number;
    await relay.stop();
    relay.loseData();
    await relay.start();
    const lost = await relay.post(A, "four");
    assert.deepEqual([lost.status, lost.body["kind"]], [404, "unknown_mailbox"]);
    assert.equal(await relay.make(A), 201);
    await relay.post(A, "four");
    assert.deepEqual(await relay.texts(A, after), ["four"]);
  },
);
