/** The client that daemon and phone use, against a real relay: both sides of `wire.md` at once. */

import assert from "node:assert/strict";
import { RelayClient, type RelayMessage, type RelayOutcome } from "@custos/core/relay_client";
import { hashToken } from "@custos/core/relay_wire";
import { mailboxOf, type TestRelay, withRelay } from "./testing.ts";

const A = mailboxOf("a");
const bytes = (text: string) => new TextEncoder().encode(text);
const texts = (outcome: RelayOutcome<RelayMessage[]>) =>
  outcome.kind === "ok" ? outcome.value.map((message) => new TextDecoder().decode(message.data)) : outcome;
const clientOf = (relay: TestRelay, invite?: string) => new RelayClient({ url: relay.url, fetch, invite });

async function makeA(client: RelayClient): Promise<string> {
  return (await client.createMailbox(A.id, await hashToken(A.read), await hashToken(A.write))).kind;
}

Deno.test("RelayClient posts, waits, reads, acknowledges and removes at a relay", () =>
  withRelay({}, async (relay) => {
    const client = clientOf(relay);
    assert.equal(await makeA(client), "ok");
    assert.equal(await makeA(client), "ok");
    const waiting = client.read(A.id, A.read, 0, { wait_ms: 25_000 });
    const posted = await client.post(A.id, A.write, bytes("sealed"), { ttl_ms: 60_000 });
    assert.ok(posted.kind === "ok");
    assert.deepEqual(texts(await waiting), ["sealed"]);
    assert.deepEqual(texts(await client.read(A.id, A.read, posted.value.seq)), []);
    assert.equal((await client.ack(A.id, A.read, posted.value.seq)).kind, "ok");
    assert.deepEqual(texts(await client.read(A.id, A.read, 0)), []);
    const keys = { p256dh: "B".padEnd(86, "x") + "A", auth: "a".repeat(21) + "A" };
    const subscription = { endpoint: "https://push.example.test/abc", keys };
    assert.equal((await client.putPush(A.id, A.read, subscription)).kind, "ok");
    assert.equal((await client.remove(A.id, A.read)).kind, "ok");
    assert.equal((await client.remove(A.id, A.read)).kind, "gone");
  }));

Deno.test("RelayClient reads the fullest page that a relay gives", () =>
  withRelay({}, async (relay) => {
    const client = clientOf(relay);
    await makeA(client);
    const data = new Uint8Array(16 * 1024).fill(255);
    for (let i = 0; i < 65; i++) await client.post(A.id, A.write, data);
    const page = await client.read(A.id, A.read, 0);
    assert.ok(page.kind === "ok");
    assert.equal(page.value.length, 64);
    assert.deepEqual(page.value[63]!.data, data);
  }));

Deno.test("RelayClient tells apart what can go wrong at a relay", () =>
  withRelay({ invite: "an invite for friends", limits: { mailbox_messages_max: 1 } }, async (relay) => {
    const client = clientOf(relay, "an invite for friends");
    assert.deepEqual(
      await clientOf(relay).createMailbox(A.id, await hashToken(A.read), await hashToken(A.write)),
      {
        kind: "refused",
        error: "invite_required",
      },
    );
    assert.equal((await client.post(A.id, A.write, bytes("x"))).kind, "gone");
    await makeA(client);
    assert.deepEqual(await client.createMailbox(A.id, await hashToken(A.write), await hashToken(A.read)), {
      kind: "refused",
      error: "mailbox_conflict",
    });
    assert.equal((await client.post(A.id, A.read, bytes("x"))).kind, "unauthorized");
    assert.equal((await client.post(A.id, A.write, bytes("x"))).kind, "ok");
    assert.equal((await client.post(A.id, A.write, bytes("x"))).kind, "full");
  }));

Deno.test("RelayClient learns when to come again, and that a relay is gone", () =>
  withRelay({ limits: { address_burst: 1, address_per_second: 1 }, clock: () => 0 }, async (relay) => {
    const client = clientOf(relay);
    assert.equal(await makeA(client), "ok");
    assert.deepEqual(await client.ack(A.id, A.read, 0), { kind: "too_many", retry_after_ms: 1000 });
    const url = relay.url;
    await relay.stop();
    assert.equal((await new RelayClient({ url, fetch }).ack(A.id, A.read, 0)).kind, "unreachable");
  }));

Deno.test("RelayClient heals a relay that lost its data, and its reader misses nothing (B152)", () =>
  withRelay({}, async (relay) => {
    let client = clientOf(relay);
    await makeA(client);
    const before = await client.post(A.id, A.write, bytes("before"));
    assert.ok(before.kind === "ok");
    await relay.stop();
    relay.loseData();
    await relay.start();
    client = clientOf(relay);
    assert.equal((await client.read(A.id, A.read, before.value.seq)).kind, "gone");
    assert.equal(await makeA(client), "ok");
    const waiting = client.read(A.id, A.read, before.value.seq, { wait_ms: 25_000 });
    await client.post(A.id, A.write, bytes("again"));
    assert.deepEqual(texts(await waiting), ["again"]);
  }));
