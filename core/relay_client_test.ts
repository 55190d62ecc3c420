import assert from "node:assert/strict";
import { CustosError } from "./errors.ts";
import { RelayClient, type RelayFetch, type RelayOutcome } from "./relay_client.ts";
import { MESSAGE_BYTES_MAX, RELAY_STATUS, type RelayErrorKind, REPLY_BYTES_MAX } from "./relay_wire.ts";

const ID = "a".repeat(26);
const TOKEN = "t".repeat(42) + "A";
const HASHES: [string, string] = ["r".repeat(42) + "A", "w".repeat(42) + "A"];
const SUBSCRIPTION = {
  endpoint: "https://push.example.test/abc",
  keys: { p256dh: "B".padEnd(86, "x") + "A", auth: "a".repeat(21) + "A" },
};
const BASE = "https://relay.example";
const FOREVER: RelayFetch = (_url, init) =>
  new Promise((_, reject) => init.signal!.addEventListener("abort", () => reject(init.signal!.reason)));

interface Sent {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: BodyInit | null | undefined;
  init: RequestInit;
}

/** A client whose relay gives one reply, and what it sent. */
function clientOf(
  reply: () => Response | Promise<Response>,
  invite?: string,
): { client: RelayClient; sent: Sent[] } {
  const sent: Sent[] = [];
  const fetch: RelayFetch = async (url, init) => {
    const { method = "", headers, body } = init;
    sent.push({ url, method, headers: headers as Record<string, string>, body, init });
    return await reply();
  };
  return { client: new RelayClient({ url: BASE, fetch, invite }), sent };
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers });
const refusal = (kind: RelayErrorKind, headers: Record<string, string> = {}) =>
  json(RELAY_STATUS[kind], { kind, message: "no" }, headers);

Deno.test("RelayClient.createMailbox() sends the hashes, the invite and no token", async () => {
  const { client, sent } = clientOf(() => json(201, { created: true }), "an invite");
  assert.deepEqual(await client.createMailbox(ID, ...HASHES), { kind: "ok", value: undefined });
  const [{ url, method, headers, body }] = sent as [Sent];
  assert.deepEqual([method, url], ["PUT", `${BASE}/v1/mailboxes/${ID}`]);
  assert.deepEqual(headers, {
    accept: "application/json",
    "content-type": "application/json",
    "custos-invite": "an invite",
  });
  assert.deepEqual(JSON.parse(body as string), { read_hash: HASHES[0], write_hash: HASHES[1] });
});

Deno.test("RelayClient.post() sends the bytes and returns their number", async () => {
  const { client, sent } = clientOf(() => json(201, { seq: 5, expires_ms: 9 }));
  const data = Uint8Array.of(1, 2, 3);
  assert.deepEqual(await client.post(ID, TOKEN, data, { ttl_ms: 60_000 }), {
    kind: "ok",
    value: { seq: 5, expires_ms: 9 },
  });
  const [{ url, method, headers, body }] = sent as [Sent];
  assert.deepEqual([method, url], ["POST", `${BASE}/v1/mailboxes/${ID}/messages?ttl_ms=60000`]);
  assert.equal(headers["authorization"], `Bearer ${TOKEN}`);
  assert.equal(headers["content-type"], "application/octet-stream");
  assert.equal(body, data);
});

Deno.test("RelayClient.read() returns bytes in order", async () => {
  const messages = [{ seq: 8, posted_ms: 1, data: "AQ" }, { seq: 9, posted_ms: 2, data: "Av8" }];
  const { client, sent } = clientOf(() => json(200, { messages }));
  assert.deepEqual(await client.read(ID, TOKEN, 7, { wait_ms: 25_000 }), {
    kind: "ok",
    value: [
      { seq: 8, posted_ms: 1, data: Uint8Array.of(1) },
      { seq: 9, posted_ms: 2, data: Uint8Array.of(2, 255) },
    ],
  });
  assert.equal(sent[0]!.url, `${BASE}/v1/mailboxes/${ID}/messages?after=7&wait_ms=25000`);
});

Deno.test("RelayClient.ack(), remove() and putPush() name their place", async () => {
  const { client, sent } = clientOf(() => json(200, {}));
  await client.ack(ID, TOKEN, 9);
  await client.remove(ID, TOKEN);
  await client.putPush(ID, TOKEN, { ...SUBSCRIPTION, expirationTime: null } as typeof SUBSCRIPTION);
  assert.deepEqual(sent.map(({ method, url }) => `${method} ${url}`), [
    `DELETE ${BASE}/v1/mailboxes/${ID}/messages?through=9`,
    `DELETE ${BASE}/v1/mailboxes/${ID}`,
    `PUT ${BASE}/v1/mailboxes/${ID}/push`,
  ]);
  assert.deepEqual(JSON.parse(sent[2]!.body as string), SUBSCRIPTION);
});

Deno.test("RelayClient follows no redirect and lends no cookies", async () => {
  const { client, sent } = clientOf(() =>
    new Response(null, { status: 307, headers: { location: "https://evil.test" } })
  );
  assert.deepEqual(await client.ack(ID, TOKEN, 1), { kind: "bad_reply" });
  const { redirect, credentials, cache, referrerPolicy } = sent[0]!.init;
  assert.deepEqual([redirect, credentials, cache, referrerPolicy], [
    "manual",
    "omit",
    "no-store",
    "no-referrer",
  ]);
});

const OUTCOMES: [string, () => Response | Promise<Response>, RelayOutcome<unknown>][] = [
  ["a lost mailbox", () => refusal("unknown_mailbox"), { kind: "gone" }],
  ["a wrong token", () => refusal("unauthorized"), { kind: "unauthorized" }],
  ["a 401 of somebody in between", () => new Response("who are you", { status: 401 }), {
    kind: "unauthorized",
  }],
  ["too many requests", () => refusal("too_many", { "retry-after": "7" }), {
    kind: "too_many",
    retry_after_ms: 7000,
  }],
  ["too many, without a time", () => refusal("too_many"), { kind: "too_many", retry_after_ms: 0 }],
  ["a Retry-After that is no number", () => refusal("too_many", { "retry-after": "soon" }), {
    kind: "too_many",
    retry_after_ms: 0,
  }],
  ["a full mailbox", () => refusal("full"), { kind: "full" }],
  ["a relay that stops", () => refusal("stopping", { "retry-after": "1" }), {
    kind: "unreachable",
    retry_after_ms: 1000,
  }],
  ["a relay that fails", () => refusal("internal"), { kind: "unreachable", retry_after_ms: 0 }],
  ["a proxy without its relay", () => new Response("bad gateway", { status: 502 }), {
    kind: "unreachable",
    retry_after_ms: 0,
  }],
  ["a body that was too slow", () => refusal("too_slow"), { kind: "unreachable", retry_after_ms: 0 }],
  ["other hashes", () => refusal("mailbox_conflict"), { kind: "refused", error: "mailbox_conflict" }],
  ["a missing invite", () => refusal("invite_required"), { kind: "refused", error: "invite_required" }],
  ["a failed connection", () => Promise.reject(new TypeError("x")), {
    kind: "unreachable",
    retry_after_ms: 0,
  }],
  ["a web page instead of a relay", () => new Response("<h1>Log in</h1>"), { kind: "bad_reply" }],
  ["a web server's own 404", () => new Response("not found", { status: 404 }), { kind: "bad_reply" }],
  ["a 404 of an unknown kind", () => json(404, { kind: "lost", message: "" }), { kind: "bad_reply" }],
  ["JSON of another shape", () => json(201, { seq: "5" }), { kind: "bad_reply" }],
  ["broken UTF-8", () => new Response(Uint8Array.of(0x22, 0xff, 0x22)), { kind: "bad_reply" }],
  ["nothing", () => new Response(null, { status: 204 }), { kind: "bad_reply" }],
];
for (const [what, reply, outcome] of OUTCOMES) {
  Deno.test(`RelayClient.post() calls ${what} ${outcome.kind}`, async () => {
    const { client } = clientOf(reply);
    assert.deepEqual(await client.post(ID, TOKEN, Uint8Array.of(1)), outcome);
  });
}

Deno.test("RelayClient stops reading a reply that is too long", async () => {
  let pulled = 0;
  let cancelled = false;
  const endless = new ReadableStream({
    pull(controller) {
      pulled += 65536;
      controller.enqueue(new Uint8Array(65536).fill(0x20));
    },
    cancel() {
      cancelled = true;
    },
  });
  const { client } = clientOf(() => new Response(endless));
  assert.deepEqual(await client.read(ID, TOKEN, 0), { kind: "bad_reply" });
  assert.ok(cancelled);
  assert.ok(pulled < REPLY_BYTES_MAX + 3 * 65536);
});

Deno.test("RelayClient.read() calls a wait that ends early with nothing unreachable (B171)", async () => {
  const { client } = clientOf(() => json(200, { messages: [] }));
  assert.deepEqual(await client.read(ID, TOKEN, 0, { wait_ms: 10_000 }), {
    kind: "unreachable",
    retry_after_ms: 0,
  });
  assert.deepEqual(await client.read(ID, TOKEN, 0), { kind: "ok", value: [] });
});

Deno.test("RelayClient ends a call when its caller does", async () => {
  const client = new RelayClient({ url: BASE, fetch: FOREVER });
  const leaving = new AbortController();
  const waiting = client.read(ID, TOKEN, 0, { wait_ms: 25_000, signal: leaving.signal });
  leaving.abort();
  assert.deepEqual(await waiting, { kind: "unreachable", retry_after_ms: 0 });
  const { client: other, sent } = clientOf(() => json(200, { messages: [] }));
  await other.read(ID, TOKEN, 0, { signal: leaving.signal });
  assert.equal(sent.length, 0);
});

Deno.test("RelayClient ends a call that gets no answer (B141)", async () => {
  const timers: { run: () => void; ms: number }[] = [];
  const { setTimeout } = globalThis;
  globalThis.setTimeout =
    ((run: () => void, ms: number) => timers.push({ run, ms })) as unknown as typeof setTimeout;
  try {
    const client = new RelayClient({ url: BASE, fetch: FOREVER });
    const reading = client.read(ID, TOKEN, 0, { wait_ms: 25_000 });
    const posting = client.post(ID, TOKEN, Uint8Array.of(1));
    assert.deepEqual(timers.map((timer) => timer.ms), [30_000, 5_000]);
    for (const timer of timers) timer.run();
    assert.deepEqual(await reading, { kind: "unreachable", retry_after_ms: 0 });
    assert.deepEqual(await posting, { kind: "unreachable", retry_after_ms: 0 });
  } finally {
    globalThis.setTimeout = setTimeout;
  }
});

const FAULTS: [string, (client: RelayClient) => Promise<unknown>][] = [
  ["a malformed id", (client) => client.ack("../../healthz", TOKEN, 1)],
  ["a malformed token", (client) => client.ack(ID, "token\r\nx: y", 1)],
  ["a malformed hash", (client) => client.createMailbox(ID, HASHES[0], "hash")],
  ["an empty message", (client) => client.post(ID, TOKEN, new Uint8Array(0))],
  ["a message that is too large", (client) => client.post(ID, TOKEN, new Uint8Array(MESSAGE_BYTES_MAX + 1))],
  ["no time to live", (client) => client.post(ID, TOKEN, Uint8Array.of(1), { ttl_ms: 0 })],
  ["a position that is no number", (client) => client.read(ID, TOKEN, NaN)],
  ["a wait that is too long", (client) => client.read(ID, TOKEN, 0, { wait_ms: 25_001 })],
];
for (const [what, call] of FAULTS) {
  Deno.test(`RelayClient rejects ${what} before anything is sent`, async () => {
    const { client, sent } = clientOf(() => json(200, {}));
    await assert.rejects(
      call(client),
      (error) => error instanceof CustosError && error.kind === "bad_request",
    );
    assert.equal(sent.length, 0);
  });
}

for (
  const url of [
    "",
    "relay.example",
    "ftp://relay.example",
    "https://relay.example/",
    "https://relay.example/x?y",
  ]
) {
  Deno.test(`RelayClient refuses the address "${url}"`, () => {
    assert.throws(() => new RelayClient({ url, fetch: FOREVER }), CustosError);
  });
}
