/**
 * What is remembered so that nothing counts twice is bounded, however long a relay plays and however often a daemon starts
 * (DESIGN §7): a window of sequences, the roots that are over, and the offers of a generation.
 */

import assert from "node:assert/strict";
import { toHex, utf8 } from "@custos/core/bytes";
import { openMessage, sealMessage } from "@custos/core/channel";
import { beginRun, type DaemonChannel, send, takeAccept } from "@custos/core/channel_daemon";
import { MAX_SUPERSEDED, type PhoneChannel, phoneReceive } from "@custos/core/channel_phone";
import { MAX_EARLIER } from "@custos/core/handshake";
import { TEXT_KEEPER } from "../phone/text_keeper.ts";

const CHANNEL = "000102030405060708090a0b0c0d0e0f";
const ROOT = "A".repeat(42) + "E";

function fresh(): { daemon: DaemonChannel<string>; phone: PhoneChannel<string> } {
  const common = { channel: CHANNEL, generation: 0, root: ROOT };
  return {
    daemon: { ...common, next: null },
    phone: { ...common, session: null, pending: [], superseded: [], locked: null },
  };
}

Deno.test("a phone remembers a fixed number of superseded roots, and never takes a daemon's own restart for a thief", async () => {
  let { daemon, phone } = fresh();
  const old: Uint8Array<ArrayBuffer>[] = [];
  for (let start = 0; start < MAX_SUPERSEDED + 8; start++) {
    let run = await beginRun(TEXT_KEEPER, daemon);
    old.push(run.offer);
    const answered = await phoneReceive(TEXT_KEEPER, phone, run.offer);
    assert.equal(answered.kind, "answer");
    if (answered.kind !== "answer") return;
    run = (await takeAccept(TEXT_KEEPER, run, answered.frame))!;
    const sent = (await send(TEXT_KEEPER, run, utf8("hello")))!;
    const received = await phoneReceive(TEXT_KEEPER, answered.state, sent.frame);
    assert.equal(received.kind, "message");
    if (received.kind !== "message") return;
    [daemon, phone] = [sent.run.state, received.state];
  }
  assert.equal(phone.superseded.length, MAX_SUPERSEDED);
  assert.ok(phone.superseded.every(({ sessions }) => sessions.length <= MAX_EARLIER + 1));
  assert.ok((daemon.offered ?? []).length <= MAX_EARLIER);
  for (const offer of old) { // all that a relay has kept since the pairing
    assert.equal((await phoneReceive(TEXT_KEEPER, phone, offer)).kind, "refused");
  }
  assert.equal(phone.locked, null);
});

Deno.test("a session remembers 64 sequences, whatever comes and in which order", async () => {
  const { daemon, phone } = fresh();
  let run = await beginRun(TEXT_KEEPER, daemon);
  const answered = await phoneReceive(TEXT_KEEPER, phone, run.offer);
  if (answered.kind !== "answer") throw new Error("no answer");
  run = (await takeAccept(TEXT_KEEPER, run, answered.frame))!;
  let session = answered.state.pending[0]!.session;
  const frames: Uint8Array<ArrayBuffer>[] = [];
  for (let next_sequence = 1; next_sequence <= 200; next_sequence++) {
    const sender = { ...run.session!, next_sequence };
    frames.push(await sealMessage(TEXT_KEEPER, sender, channelBytes(), "to_phone", utf8("x")));
  }
  const order = frames.map((_, i) => (i * 67) % frames.length); // a permutation: 67 and 200 share no factor
  const taken = new Set<number>();
  for (const i of [...order, ...order]) {
    const received = await openMessage(TEXT_KEEPER, session, "to_phone", frames[i]!);
    if (!received.ok) continue;
    assert.ok(!taken.has(i), "each counts once");
    taken.add(i);
    session = received.session;
    assert.ok(session.window.seen.length <= 16, "64 bits in hexadecimal");
  }
  assert.ok(taken.size > 0);
});

function channelBytes(): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from({ length: 16 }, (_, i) => i);
  if (toHex(bytes) !== CHANNEL) throw new Error("these are not the bytes of the channel's id");
  return bytes;
}
