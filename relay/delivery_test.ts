import assert from "node:assert/strict";
import { mailboxPath, messagesPath, type WireMessage } from "@custos/core/relay_wire";
import { Delivery } from "./delivery.ts";
import { SqliteStore } from "./sqlite_store.ts";
import { mailboxOf, type TestRelay, withRelay } from "./testing.ts";
import { Waiters } from "./waiters.ts";

const A = mailboxOf("a");
const B = mailboxOf("b");
const LONG_MS = 25_000;

const poll = (relay: TestRelay) =>
  relay.call("GET", `${messagesPath(A.id)}?wait_ms=${LONG_MS}`, { token: A.read });

/** An event stream and a way to read its next block that is not a comment. */
async function openEvents(relay: TestRelay, box = A, after = 0) {
  const response = await fetch(`${relay.url}${messagesPath(box.id)}?after=${after}`, {
    headers: { authorization: `Bearer ${box.read}`, accept: "text/event-stream" },
  });
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const block = async (): Promise<string | null> => {
    while (!text.includes("\n\n")) {
      const read = await reader.read();
      if (read.done) return null;
      text += read.value;
    }
    const end = text.indexOf("\n\n");
    const found = text.slice(0, end);
    text = text.slice(end + 2);
    return found;
  };
  assert.equal(await block(), ": open"); // the reader waits at the relay from here on
  return { block, cancel: () => reader.cancel() };
}

function textOf(block: string | null): string {
  const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(block ?? "") ?? [];
  const message = JSON.parse(data ?? "null") as WireMessage;
  assert.equal(message.seq, Number(id));
  return atob(message.data);
}

Deno.test("Delivery.page() waits, and wakes with the message", () =>
  withRelay({}, async (relay) => {
    await relay.make(A);
    const waiting = relay.texts(A, 0, LONG_MS);
    assert.equal((await relay.post(A, "wake up")).status, 201);
    assert.deepEqual(await waiting, ["wake up"]);
  }));

Deno.test("Delivery.page() gives nothing when the wait is over", () =>
  withRelay({}, async (relay) => {
    await relay.make(A);
    assert.deepEqual(await relay.texts(A, 0, 20), []);
  }));

Deno.test("Delivery.page() wakes every reader of a mailbox, and nobody else", () =>
  withRelay({}, async (relay) => {
    await relay.make(A);
    await relay.make(B);
    const readers = [relay.texts(A, 0, LONG_MS), relay.texts(A, 0, LONG_MS)];
    const stranger = relay.texts(B, 0, 300);
    await relay.post(A, "for two");
    assert.deepEqual(await Promise.all(readers), [["for two"], ["for two"]]);
    assert.deepEqual(await stranger, []);
  }));

Deno.test("Delivery.page() ends with 404 when the mailbox is removed", () =>
  withRelay({}, async (relay) => {
    await relay.make(A);
    const waiting = poll(relay);
    await relay.call("DELETE", mailboxPath(A.id), { token: A.read });
    assert.equal((await waiting).body["kind"], "unknown_mailbox");
  }));

Deno.test("Delivery lets the newest reader in and ends the oldest (B141)", () =>
  withRelay({ limits: { mailbox_readers_max: 1 } }, async (relay) => {
    await relay.make(A);
    const oldest = await openEvents(relay);
    const newer = poll(relay);
    assert.equal(await oldest.block(), null);
    const newest = await openEvents(relay);
    const ended = await newer;
    assert.deepEqual([ended.status, ended.headers.get("retry-after")], [429, "5"]);
    await relay.post(A, "for the newest");
    assert.equal(textOf(await newest.block()), "for the newest");
    await newest.cancel();
  }));

Deno.test("Delivery.events() sends what is there and then what comes, each once and in order", () =>
  withRelay({}, async (relay) => {
    await relay.make(A);
    const first = await relay.post(A, "seen before");
    await relay.post(A, "one");
    const events = await openEvents(relay, A, first.body["seq"] as number);
    assert.equal(textOf(await events.block()), "one");
    for (const text of ["two", "three"]) {
      await relay.post(A, text);
      assert.equal(textOf(await events.block()), text);
    }
    await events.cancel();
  }));

Deno.test("Delivery.events() gives a sign of life while nothing comes (B141)", () =>
  withRelay({ limits: { heartbeat_ms: 10 } }, async (relay) => {
    await relay.make(A);
    const events = await openEvents(relay);
    assert.equal(await events.block(), ": still here");
    assert.equal(await events.block(), ": still here");
    await events.cancel();
  }));

Deno.test("Delivery.events() ends when the mailbox is removed", () =>
  withRelay({}, async (relay) => {
    await relay.make(A);
    const events = await openEvents(relay);
    await relay.call("DELETE", mailboxPath(A.id), { token: A.read });
    assert.equal(await events.block(), null);
  }));

Deno.test("Delivery ends all waits when the relay stops", () =>
  // a wait that is not ended is cut off after `stop_ms`, which a reader sees as a broken connection
  withRelay({ limits: { mailbox_readers_max: 1, stop_ms: 5_000 } }, async (relay) => {
    await relay.make(A);
    await relay.make(B);
    const replaced = await openEvents(relay);
    const waiting = poll(relay);
    assert.equal(await replaced.block(), null); // so the poll is at the relay
    const events = await openEvents(relay, B);
    await relay.stop();
    const ended = await waiting;
    assert.deepEqual([ended.status, ended.body["kind"]], [503, "stopping"]);
    assert.equal(await events.block(), null);
  }));

Deno.test("Delivery forgets a reader that left, whether it polled or streamed", async () => {
  const parent = await Deno.makeTempDir();
  const store = new SqliteStore(`${parent}/relay`);
  await store.putMailbox(A.id, { read_hash: "r", write_hash: "w" });
  const waiters = new Waiters(8);
  const delivery = new Delivery(store, waiters);
  const leaving = new AbortController();
  const page = delivery.page({ id: A.id, after: 0, left: leaving.signal }, LONG_MS);
  const stream = delivery.events({ id: A.id, after: 0, left: leaving.signal }, LONG_MS);
  const cancelled = delivery.events({ id: A.id, after: 0, left: new AbortController().signal }, LONG_MS)
    .getReader();
  await cancelled.read();
  assert.equal(waiters.count, 3);
  leaving.abort();
  assert.deepEqual(await page, []);
  assert.match(await new Response(stream).text(), /^: open\n\n$/);
  await cancelled.cancel();
  assert.equal(waiters.count, 0);
  store.close();
  await Deno.remove(parent, { recursive: true });
});
