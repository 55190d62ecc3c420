/** Strangers and misfortune: floods, slow and endless bodies, and that the honest pair goes on (B153). */

import assert from "node:assert/strict";
import { mailboxPath, MESSAGE_BYTES_MAX, messagesPath } from "@custos/core/relay_wire";
import { DEFAULT_LIMITS } from "./limits.ts";
import { mailboxOf, type TestMailbox, type TestRelay, withRelay } from "./testing.ts";

const HONEST = mailboxOf("a");
const FLOODED = mailboxOf("b");
const from = (address: string) => ({ "x-forwarded-for": address });

/** Sends bytes over a connection of its own and reads until the relay closes it, or `enough` has come. */
async function raw(relay: TestRelay, text: string, enough: RegExp): Promise<string> {
  const { port } = new URL(relay.url);
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  await connection.write(new TextEncoder().encode(text));
  const buffer = new Uint8Array(4096);
  let reply = "";
  while (!enough.test(reply)) {
    const read = await connection.read(buffer);
    if (read === null) break;
    reply += new TextDecoder().decode(buffer.subarray(0, read));
  }
  return reply;
}

function postHead(box: TestMailbox, more: string): string {
  return `POST ${messagesPath(box.id)} HTTP/1.1\r\nhost: relay\r\nauthorization: Bearer ${box.write}\r\n` +
    `content-type: application/octet-stream\r\n${more}\r\n\r\n`;
}

async function honestPairWorks(relay: TestRelay): Promise<void> {
  const { status } = await relay.post(HONEST, "honest", { headers: from("192.0.2.1") });
  assert.equal(status, 201);
  assert.equal((await relay.texts(HONEST)).at(-1), "honest");
}

Deno.test("createRelay() stops a flood of 10,000 messages at the limits, and serves the others", async () => {
  let clock = 0;
  const limits = { address_burst: 5000, mailbox_messages_max: 1000 };
  await withRelay({ limits, proxy_hops: 1, clock: () => clock }, async (relay) => {
    await relay.make(HONEST, from("192.0.2.1"));
    await relay.make(FLOODED, from("192.0.2.66"));
    const counts: Record<number, number> = {};
    const flood = async () => {
      for (let i = 0; i < 10_000 / 16; i++) {
        const { status } = await relay.post(FLOODED, "flood", { headers: from("192.0.2.66") });
        counts[status] = (counts[status] ?? 0) + 1;
      }
    };
    const flooding = Promise.all(Array.from({ length: 16 }, flood));
    await honestPairWorks(relay);
    await flooding;
    assert.deepEqual(counts, { 201: 1000, 429: 10_000 - 4999, 507: 3999 }); // one request made the mailbox
    await honestPairWorks(relay);

    clock += 60_000; // the address may come again, the mailbox stays full until somebody reads it
    assert.equal((await relay.post(FLOODED, "flood", { headers: from("192.0.2.66") })).status, 507);
  });
});

Deno.test("createRelay() says when an address may come again, and believes nobody about addresses", async () => {
  let clock = 0;
  const limits = { address_burst: 3, address_per_second: 0.5 };
  await withRelay({ limits, clock: () => clock }, async (relay) => {
    const ask = (address: string) => relay.call("GET", "/healthz", { headers: from(address) });
    for (let i = 0; i < 3; i++) assert.equal((await ask(`192.0.2.${i}`)).status, 200);
    const refused = await ask("192.0.2.9");
    assert.deepEqual([refused.status, refused.body["kind"]], [429, "too_many"]);
    assert.equal(refused.headers.get("retry-after"), "2");
    clock += 2000;
    assert.equal((await ask("192.0.2.9")).status, 200);
  });
});

Deno.test("createRelay() limits new mailboxes of an address, not the repetition of old ones", async () => {
  let clock = 0;
  const limits = { address_mailboxes_per_hour: 2 };
  await withRelay({ limits, clock: () => clock }, async (relay) => {
    assert.equal(await relay.make(mailboxOf("a")), 201);
    assert.equal(await relay.make(mailboxOf("b")), 201);
    assert.equal(await relay.make(mailboxOf("c")), 429);
    assert.equal(await relay.make(mailboxOf("a")), 200);
    clock += 30 * 60_000;
    assert.equal(await relay.make(mailboxOf("c")), 201);
  });
});

Deno.test("createRelay() refuses a huge message, whatever its length claims to be", () =>
  withRelay({}, async (relay) => {
    await relay.make(HONEST);
    const huge = new Uint8Array(64 * 1024 * 1024);
    const init = { token: HONEST.write, headers: { "content-type": "application/octet-stream" } };
    const whole = await relay.call("POST", messagesPath(HONEST.id), { ...init, body: huge });
    assert.equal(whole.status, 413);
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent += 64 * 1024;
        controller.enqueue(new Uint8Array(64 * 1024));
        if (sent > 64 * MESSAGE_BYTES_MAX) controller.close();
      },
    });
    const chunked = await relay.call("POST", messagesPath(HONEST.id), { ...init, body: endless });
    assert.equal(chunked.status, 413);
    assert.deepEqual(await relay.texts(HONEST), []);
    await honestPairWorks(relay);
  }));

Deno.test("createRelay() gives a slow body its time and no more", () =>
  withRelay({ limits: { body_ms: 50 } }, async (relay) => {
    await relay.make(HONEST);
    const reply = await raw(relay, postHead(HONEST, "content-length: 100") + "slow", /"kind"|"seq"/);
    assert.match(reply, /^HTTP\/1\.1 408 /);
    assert.deepEqual(await relay.texts(HONEST), []);
    await honestPairWorks(relay);
  }));

Deno.test("createRelay() asks for the token before it takes the body", () =>
  // a relay that read the body first would answer 408 after this time
  withRelay({ limits: { body_ms: 5_000 } }, async (relay) => {
    await relay.make(HONEST);
    const stranger = { ...HONEST, write: HONEST.read };
    const reply = await raw(relay, postHead(stranger, "content-length: 100000"), /"kind"|"seq"/);
    assert.match(reply, /^HTTP\/1\.1 401 /);
  }));

Deno.test("createRelay() stores nothing of a body that breaks off", () =>
  withRelay({}, async (relay) => {
    await relay.make(HONEST);
    const { port } = new URL(relay.url);
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
    await connection.write(new TextEncoder().encode(postHead(HONEST, "content-length: 100") + "half"));
    connection.close();
    await honestPairWorks(relay);
    assert.deepEqual(await relay.texts(HONEST), ["honest"]);
  }));

Deno.test("createRelay() keeps what a slow reader has not taken, and serves the others meanwhile", () =>
  withRelay({}, async (relay) => {
    await relay.make(HONEST);
    await relay.make(FLOODED);
    const data = new Uint8Array(MESSAGE_BYTES_MAX);
    const headers = { "content-type": "application/octet-stream" };
    for (let i = 0; i < DEFAULT_LIMITS.mailbox_bytes_max / MESSAGE_BYTES_MAX; i++) {
      await relay.call("POST", messagesPath(FLOODED.id), { token: FLOODED.write, body: data, headers });
    }
    const slow = await fetch(relay.url + messagesPath(FLOODED.id), {
      headers: { authorization: `Bearer ${FLOODED.read}`, accept: "text/event-stream" },
    });
    await honestPairWorks(relay);
    const text = await readUntil(slow, DEFAULT_LIMITS.mailbox_bytes_max / MESSAGE_BYTES_MAX);
    const seqs = [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
    assert.deepEqual(seqs, seqs.toSorted((a, b) => a - b));
    assert.equal(new Set(seqs).size, 64);
  }));

/** Reads an event stream until `count` messages have come whole. */
async function readUntil(response: Response, count: number): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let ends = 0;
  while (ends < count + 1) { // the first block is the comment
    const { value = "" } = await reader.read();
    text += value;
    ends += value.split("\n\n").length - 1;
  }
  await reader.cancel();
  return text;
}

Deno.test("createRelay() tells its operator about its own failures without anything of the request", async () => {
  const lines: string[] = [];
  await withRelay({ report: (line) => lines.push(line) }, async (relay) => {
    await relay.make(HONEST);
    relay.breakStore();
    const { status, body } = await relay.post(HONEST, "MARK1234");
    assert.deepEqual([status, body["kind"]], [500, "internal"]);
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /^A POST failed: /);
    for (const part of ["MARK1234", HONEST.id, HONEST.write]) assert.ok(!lines[0]!.includes(part));
    assert.equal((await relay.call("GET", "/healthz")).status, 500);
    assert.equal((await relay.call("DELETE", mailboxPath(HONEST.id), { token: HONEST.read })).status, 500);
  });
});
