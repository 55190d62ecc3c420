/**
 * A relay that answers nonsense, refuses, or is not there (cases B141, B142, B152, B171). Nothing is sent by mistake, the agent
 * is told that the card has not got through, nobody is kept busy, and an honest relay finds everybody again.
 */

import assert from "node:assert/strict";
import { until } from "../e2e/harness_wait.ts";
import type { Act } from "./hostile_relay.ts";
import { SHARED, shareStage } from "./stage.ts";

const stage = shareStage();
Deno.test.beforeEach(() => stage().relay.behave());

const text = (body: BodyInit | null, status = 200, headers: Record<string, string> = {}): Act => () =>
  new Response(body, { status, headers });
const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Act => () =>
  Response.json(value, { status, headers });
const page = (...messages: unknown[]) => json({ messages });
const frame = (change: Record<string, unknown>) => ({ seq: 1, posted_ms: 1, data: "AAAA", ...change });

function endless(): ReadableStream<Uint8Array> {
  const chunk = new Uint8Array(65_536).fill(32);
  return new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
}

const ROWS: [name: string, act: Act][] = [
  [
    "answers with a page of HTML",
    text("<html><script>alert(1)</script>", 200, { "content-type": "text/html" }),
  ],
  ["answers with nothing", text(null)],
  ["answers with half a JSON document", text('{"messages":[{"seq":1,')],
  ["answers with a list in place of an object", json([])],
  ["answers with a body without end", () => new Response(endless())],
  ["answers messages as text", json({ messages: "none" })],
  ["answers a message that is an object", page(frame({ data: { t: "decision" } }))],
  ["answers a number that is text", page(frame({ seq: "1" }))],
  ["answers numbers that fall", page(frame({ seq: 5 }), frame({ seq: 4 }))],
  ["answers a field more", page(frame({ trusted: true }))],
  [
    "answers more messages than a page holds",
    page(...Array.from({ length: 65 }, (_, i) => frame({ seq: i + 1 }))),
  ],
  ["answers a message that is larger than any", page(frame({ data: "A".repeat(200_000) }))],
  ["redirects to another address", text(null, 307, { location: "http://127.0.0.1:1/" })],
  ["redirects for good", text(null, 301, { location: "/v1/elsewhere" })],
  ["asks to come again later", json({ kind: "too_many", message: "slow down" }, 429, { "retry-after": "1" })],
  ["is not available", text("down", 503, { "retry-after": "1" })],
  ["says that it is full", json({ kind: "full", message: "no room" }, 507)],
  ["answers another page's 404", text("<h1>Not found</h1>", 404)],
  [
    "answers 200 to everything, and keeps nothing",
    json({ created: true, seq: 1, expires_ms: 1, messages: [] }),
  ],
];

for (const [at, [name, act]] of ROWS.entries()) {
  Deno.test(`a relay that ${name} gets no answer out of anybody, and is forgiven`, SHARED, async () => {
    const s = stage();
    const path = `/answers/${at}`;
    const before = { ...s.relay.calls };
    s.relay.act = act;
    const { id } = await s.ask(path, { agent: `row ${at}` });
    await new Promise((resolve) => setTimeout(resolve, 250));
    const calls = { daemon: s.relay.calls.daemon - before.daemon, phone: s.relay.calls.phone - before.phone };
    assert.ok(calls.daemon <= 30 && calls.phone <= 30, `nobody is kept busy: ${JSON.stringify(calls)}`);
    assert.equal(await s.status(id), "pending");
    assert.equal(s.api.count(path), 0);
    s.relay.behave();
    await s.card(id); // it comes by itself
    const { alarm, channel } = await s.phone!.record();
    assert.deepEqual([alarm, channel.locked], [null, null]);
    const { status } = await s.phone!.deny(id);
    assert.equal(status, "denied");
  });
}

Deno.test(
  "a card that the relay would not take is sent again by itself, while everything else goes well (B142)",
  SHARED,
  async () => {
    const s = stage();
    for (const [at, refusals] of [1, 4].entries()) {
      let left = refusals;
      s.relay.act = (passing) =>
        passing.from === "daemon" && passing.kind === "post" && left-- > 0
          ? new Response(null, { status: 503 })
          : passing.pass();
      const { id } = await s.ask(`/again/${at}`, { agent: `again ${at}` });
      await s.card(id);
      const { status } = await s.phone!.deny(id);
      assert.equal(status, "denied");
    }
  },
);

Deno.test(
  "a relay that loses everything while a card waits is given its mailboxes again, and the card comes once (B152)",
  SHARED,
  async () => {
    const s = stage();
    s.relay.act = (passing) => passing.kind === "post" ? new Response(null, { status: 503 }) : passing.pass();
    const { id } = await s.ask("/lost", { agent: "lost" });
    await s.relay.lose();
    s.relay.behave();
    await s.card(id);
    await s.relay.lose();
    await s.approve(id);
    assert.equal((await s.http("/lost", { agent: "lost" })).status_code, 200);
    assert.equal((await s.phone!.cards()).filter((card) => card.message.doc.id === id).length, 1);
    assert.equal(s.api.count("/lost"), 1);
  },
);

Deno.test(
  "a relay that takes messages and never gives them to anybody leaves the request pending, and says yes to nothing (B145)",
  SHARED,
  async () => {
    const s = stage();
    s.relay.act = (passing) => passing.kind === "read" ? Response.json({ messages: [] }) : passing.pass();
    const { id } = await s.ask("/silent", { agent: "silent" });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    assert.equal(await s.status(id), "pending");
    assert.equal(s.api.count("/silent"), 0);
    s.relay.behave();
    await s.approve(id);
    assert.equal((await s.http("/silent", { agent: "silent" })).status_code, 200);
  },
);

Deno.test("a daemon whose relay refuses its token says so, and stops asking (B171)", SHARED, async () => {
  const s = stage();
  const refuse: Act = (passing) =>
    passing.from === "daemon"
      ? Response.json({ kind: "unauthorized", message: "no" }, { status: 401 })
      : passing.pass();
  s.relay.act = refuse;
  await s.restartDaemon(); // the read that waited would only come back after 25 seconds
  const refused = async () => {
    const { relay } = await s.client.call("daemon.status", {});
    return relay.state === "refused" || null;
  };
  await until(refused, "The daemon did not say that it was refused.");
  const before = s.relay.calls.daemon;
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  assert.equal(s.relay.calls.daemon, before);
  s.relay.behave();
  await s.restartDaemon();
  await s.recovers("/after-refusal");
});
