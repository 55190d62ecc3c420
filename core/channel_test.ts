import assert from "node:assert/strict";
import { identityToRecipient } from "age-encryption";
import fc from "fast-check";
import { fromHex, fromUtf8, toHex, utf8 } from "./bytes.ts";
import { newSession, openMessage, sealMessage, type Session } from "./channel.ts";
import { takeAccept } from "./channel_daemon.ts";
import { sealTo } from "./custody.ts";
import { frameKey, type FrameKind, readHead, sealFrame } from "./frame.ts";
import { encodeAccept, handshakeSecret, rootKey } from "./handshake.ts";
import { CHANNEL, connect, talk, TestDaemon, TestPhone, TEXT_KEEPER } from "./testdata/channels.ts";
import { flipBit, hex, kindOf } from "./testdata/samples.ts";
import vectors from "./testdata/session.json" with { type: "json" };

const channel = fromHex(CHANNEL)!;

async function session(): Promise<Session<string>> {
  const { to_phone, to_daemon, next_root } = vectors;
  const secrets = { to_phone: hex(to_phone), to_daemon: hex(to_daemon), next_root: hex(next_root) };
  const made = await newSession(TEXT_KEEPER, vectors.session, secrets);
  assert.deepEqual([toHex(secrets.to_phone), toHex(secrets.to_daemon)], ["00".repeat(32), "00".repeat(32)]);
  assert.equal(toHex(secrets.next_root), vectors.next_root);
  return made;
}

const numbered = async (number: number, text = `m${number}`) =>
  await sealMessage(
    TEXT_KEEPER,
    { ...await session(), next_sequence: number },
    channel,
    "to_phone",
    utf8(text),
  );

/** What each of these frames comes to, one after the other: the text or the refusal. */
async function outcomes(...frames: Uint8Array[]): Promise<string[]> {
  let state = await session();
  const out: string[] = [];
  for (const frame of frames) {
    const before = structuredClone(state);
    const received = await openMessage(TEXT_KEEPER, state, "to_phone", frame);
    if (received.ok) {
      state = received.session;
      out.push(fromUtf8(received.plaintext));
    } else {
      out.push(received.why);
    }
    assert.deepEqual(received.ok ? before : state, before, "a refused frame changed the state");
  }
  return out;
}

Deno.test("openMessage() opens each message once, late ones within 64 of the highest", async () => {
  const [m1, m2, m3, m66, m67] = await Promise.all([1, 2, 3, 66, 67].map((number) => numbered(number)));
  assert.deepEqual(await outcomes(m1!, m3!, m2!, m2!, m1!), ["m1", "m3", "m2", "replayed", "replayed"]);
  assert.deepEqual(await outcomes(m67!, m3!, m2!, m66!, m66!), [
    "m67",
    "replayed",
    "replayed",
    "m66",
    "replayed",
  ]);
  assert.deepEqual(await outcomes(m66!, m3!, m67!, m3!), ["m66", "m3", "m67", "replayed"]);
});

Deno.test("openMessage() does not move its window for a frame that is not authentic", async () => {
  const [m1, m9] = [await numbered(1), await numbered(9)];
  const forged = Uint8Array.from(m1);
  new DataView(forged.buffer).setBigUint64(34, 2n ** 40n);
  assert.deepEqual(await outcomes(forged, m1, flipBit(m9, 500), m9), [
    "undecipherable",
    "m1",
    "undecipherable",
    "m9",
  ]);
});

Deno.test("openMessage() refuses a frame of the other direction, another session, channel or kind", async () => {
  const state = await session();
  const plaintext = utf8("x");
  const sealed = await numbered(1);
  const reflected = await sealMessage(TEXT_KEEPER, state, channel, "to_daemon", plaintext);
  const swapped = await sealMessage(
    TEXT_KEEPER,
    { ...state, to_phone: state.to_daemon, to_daemon: state.to_phone },
    channel,
    "to_phone",
    plaintext,
  );
  const key = await TEXT_KEEPER.load(state.to_phone, "frame");
  const head = { kind: "session", channel, session: fromHex(state.id)!, number: 1 } as const;
  const rows: [string, Uint8Array][] = [
    [
      "an offer under the key of messages",
      await sealFrame(key, "to_phone", { ...head, kind: "offer" }, plaintext),
    ],
    [
      "a message that says another session",
      await sealFrame(key, "to_phone", { ...head, session: fromHex("09".repeat(16))! }, plaintext),
    ],
    ["a message of ours, sent back", reflected],
    ["a message under the other direction's key", swapped],
    ["another session", Uint8Array.from(sealed).fill(9, 18, 34)],
    ["another channel", Uint8Array.from(sealed).fill(9, 2, 18)],
    ["the kind of an offer", sealed.with(1, 1)],
    ["an unknown kind", sealed.with(1, 4)],
    ["another version", sealed.with(0, 2)],
    ["no frame", new Uint8Array(0)],
  ];
  for (const [name, frame] of rows) {
    assert.deepEqual(await outcomes(frame, sealed), ["undecipherable", "m1"], name);
  }
});

Deno.test("openMessage() refuses a message of the same keys with any bit flipped", async () => {
  const sealed = await numbered(5);
  const state = await session();
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: sealed.length * 8 - 1 }), async (bit) => {
      const received = await openMessage(TEXT_KEEPER, state, "to_phone", flipBit(sealed, bit));
      assert.deepEqual(received, { ok: false, why: "undecipherable" });
    }),
    { numRuns: 200 },
  );
});

Deno.test("sealMessage() refuses a sequence that it could not count on from", async () => {
  const state = { ...await session(), next_sequence: 2 ** 48 };
  assert.equal(
    await kindOf(() => sealMessage(TEXT_KEEPER, state, channel, "to_phone", utf8("x"))),
    "internal",
  );
});

Deno.test("send() and phoneSend() count their sequences and never use one twice", async () => {
  const [daemon, phone] = [new TestDaemon(), new TestPhone()];
  await connect(daemon, phone);
  const numbers = async (send: () => Promise<Uint8Array>) =>
    [await send(), await send(), await send()].map((frame) => readHead(frame)!.number);
  assert.deepEqual(await numbers(() => daemon.send("x")), [2, 3, 4]);
  assert.deepEqual(await numbers(() => phone.send("x")), [2, 3, 4]);
});

Deno.test("takeAccept() refuses what is not this run's acceptance, and changes nothing", async () => {
  const [daemon, phone] = [new TestDaemon(), new TestPhone()];
  const first = await phone.accept(await daemon.start());
  const accept = await phone.accept(await daemon.start());
  const root = daemon.disk.root;
  const key = await frameKey(await handshakeSecret(await rootKey(fromHex(root)!)));
  const head = (kind: FrameKind) =>
    ({ kind, channel, session: fromHex(daemon.run!.id)!, number: daemon.disk.generation }) as const;
  // whatever is sealed to this run's recipient: the head must name this run too
  const fresh = await sealTo([await identityToRecipient(daemon.run!.identity)], new Uint8Array(32));
  const elsewhere = { ...head("accept"), session: fromHex("09".repeat(16))! };
  const later = { ...head("accept"), number: daemon.disk.generation + 1 };
  const rows: [string, Uint8Array][] = [
    [
      "an authentic one for another session",
      await sealFrame(key, "to_daemon", elsewhere, encodeAccept(fresh)),
    ],
    ["an authentic one of another generation", await sealFrame(key, "to_daemon", later, encodeAccept(fresh))],
    ["the acceptance of an older run", first],
    ["the offer itself", daemon.run!.offer],
    ["another generation", Uint8Array.from(accept).fill(1, 41, 42)],
    ["another session", Uint8Array.from(accept).fill(9, 18, 34)],
    ["another channel", Uint8Array.from(accept).fill(9, 2, 18)],
    ["a flipped bit", flipBit(accept, 700)],
    ["a cut one", accept.slice(0, -1)],
    ["nothing", new Uint8Array(0)],
    ["one of the wrong direction", await sealFrame(key, "to_phone", head("accept"), encodeAccept(utf8("x")))],
    [
      "an authentic one that is no age file",
      await sealFrame(key, "to_daemon", head("accept"), encodeAccept(utf8("x"))),
    ],
    ["an authentic one that is no document", await sealFrame(key, "to_daemon", head("accept"), utf8("x"))],
  ];
  const run = structuredClone(daemon.run!);
  for (const [name, frame] of rows) {
    assert.equal(await takeAccept(TEXT_KEEPER, daemon.run!, frame), null, name);
    assert.deepEqual(daemon.run, run, name);
  }
  assert.equal(await daemon.accept(accept), true);
  assert.equal(await daemon.accept(accept), false);
  await talk(daemon, phone);
});

Deno.test("receive() and phoneReceive() refuse repeated, reflected and foreign messages, and change nothing", async () => {
  const [daemon, phone] = [new TestDaemon(), new TestPhone()];
  const [otherDaemon, otherPhone] = [new TestDaemon(), new TestPhone()];
  await connect(daemon, phone);
  await connect(otherDaemon, otherPhone);
  const [down, up] = [await daemon.send("card"), await phone.send("decision")];
  const [otherDown, otherUp] = [await otherDaemon.send("card"), await otherPhone.send("decision")];
  assert.equal((await phone.take(down)).kind, "message");
  assert.equal(await daemon.take(up), "decision");
  const [run, state] = [structuredClone(daemon.run), structuredClone(phone.state)];
  for (const frame of [down, up, otherDown, otherUp, down.slice(0, -1), new Uint8Array(200)]) {
    assert.equal((await phone.take(frame)).kind, "refused");
    assert.ok(["replayed", "undecipherable"].includes(await daemon.take(frame)));
    assert.deepEqual([daemon.run, phone.state], [run, state]);
  }
  await talk(daemon, phone);
});

Deno.test("receive() and send() do nothing before a phone has accepted", async () => {
  const [daemon, phone] = [new TestDaemon(), new TestPhone()];
  await connect(daemon, phone);
  const late = await phone.send("late");
  await daemon.start();
  assert.equal(await daemon.take(late), "undecipherable");
  await assert.rejects(() => daemon.send("card"), /no session/);
  await assert.rejects(() => new TestPhone().send("decision"), /no session/);
});
