/** Somebody with a copy of the daemon's disk poses as it, alone or with the relay: the phone locks, and nothing else does. */

import assert from "node:assert/strict";
import { type Bytes, fromHex, randomBytes, utf8 } from "./bytes.ts";
import { frameKey, type FrameKind, readHead, sealFrame } from "./frame.ts";
import { encodeOffer, handshakeSecret, MAX_EARLIER, rootKey } from "./handshake.ts";
import { CHANNEL, connect, talk, TestDaemon, TestPhone } from "./testdata/channels.ts";
import { flipBit, IDENTITIES } from "./testdata/samples.ts";

async function connected(): Promise<[TestDaemon, TestPhone]> {
  const [daemon, phone] = [new TestDaemon(), new TestPhone()];
  await connect(daemon, phone);
  return [daemon, phone];
}

/** An offer as whoever holds `root` can make it, with any claim. */
async function offerUnder(root: string, generation: number, earlier: string[], id: Bytes = randomBytes(16)) {
  const secret = await handshakeSecret(await rootKey(fromHex(root)!));
  const head = { kind: "offer", channel: fromHex(CHANNEL)!, session: id, number: generation } as const;
  const plaintext = encodeOffer(IDENTITIES[0]!.recipient, earlier);
  return await sealFrame(await frameKey(secret), "to_phone", head, plaintext);
}

async function locks(phone: TestPhone, frame: Uint8Array): Promise<void> {
  const received = await phone.take(frame);
  assert.equal(received.kind, "locked");
  assert.equal(phone.state.locked, "superseded_handshake");
  assert.deepEqual([phone.state.session, phone.state.pending], [null, []]);
}

Deno.test("phoneReceive() locks when a thief offers under a key that was superseded", async () => {
  const [daemon, phone] = await connected();
  const thief = daemon.stolen();
  await connect(daemon, phone);
  await locks(phone, await thief.start());
});

Deno.test("phoneReceive() locks when the daemon comes back after a thief posed as it", async () => {
  const [daemon, phone] = await connected();
  await connect(daemon.stolen(), phone);
  await locks(phone, await daemon.start());
});

Deno.test("phoneReceive() locks when a thief offers under a key many generations old", async () => {
  const [daemon, phone] = await connected();
  const thief = daemon.stolen();
  for (let i = 0; i < 5; i++) await connect(daemon, phone);
  await locks(phone, await thief.start());
});

Deno.test("phoneReceive() locks when two daemons offer in one generation and neither knows the other", async () => {
  for (const thiefFirst of [true, false]) {
    const [daemon, phone] = await connected();
    const thief = daemon.stolen();
    const offers = [await thief.start(), await daemon.start()];
    if (!thiefFirst) offers.reverse();
    await phone.accept(offers[0]!);
    await locks(phone, offers[1]!);
  }
});

Deno.test("phoneReceive() locks on a thief that only listens: it was answered, and said nothing", async () => {
  const [daemon, phone] = await connected();
  const thief = daemon.stolen();
  await thief.accept(await phone.accept(await thief.start()));
  assert.equal(await thief.take(await phone.send("meant for the daemon")), "meant for the daemon");
  await locks(phone, await daemon.start());
});

Deno.test("phoneReceive() locks on the daemon's next start when a thief claimed to follow its run", async () => {
  const [daemon, phone] = await connected();
  const { root, generation } = daemon.disk;
  const offer = await daemon.start();
  await daemon.accept(await phone.accept(offer));
  await phone.accept(await offerUnder(root, generation, [daemon.run!.id])); // the relay let this one pass first
  await locks(phone, await daemon.start());
});

Deno.test("phoneReceive() locks only once: a locked channel takes nothing and sends nothing", async () => {
  const [daemon, phone] = await connected();
  const thief = daemon.stolen();
  await connect(daemon, phone);
  const message = await daemon.send("card");
  await locks(phone, await thief.start());
  const state = phone.state;
  for (const frame of [message, await daemon.start(), await thief.start()]) {
    assert.deepEqual(await phone.take(frame), { kind: "refused", why: "locked" });
  }
  await assert.rejects(() => phone.send("decision"), /no session/);
  assert.deepEqual(phone.state, state);
});

Deno.test("phoneReceive() cannot be locked by the relay: forged generations, bits, ids and kinds are refused", async () => {
  const [daemon, phone] = await connected();
  const old = daemon.run!.offer;
  await connect(daemon, phone);
  const fresh = await daemon.start();
  const { state } = phone;
  const withNumber = (frame: Bytes, number: number) => {
    const out = Uint8Array.from(frame);
    new DataView(out.buffer).setBigUint64(34, BigInt(number));
    return out;
  };
  const withKind = (frame: Bytes, kind: FrameKind) =>
    frame.with(1, ["offer", "accept", "session"].indexOf(kind) + 1);
  const frames: Uint8Array[] = [];
  for (const frame of [old, fresh]) {
    for (const generation of [0, 1, 2, 3, 4, 2 ** 40]) {
      if (readHead(frame)!.number !== generation) frames.push(withNumber(frame, generation));
    }
    for (const kind of ["accept", "session"] as const) frames.push(withKind(frame, kind));
    for (let bit = 0; bit < frame.length * 8; bit += 997) frames.push(flipBit(frame, bit));
    frames.push(Uint8Array.from(frame).fill(9, 18, 34)); // another session id
    frames.push(Uint8Array.from(frame).fill(9, 2, 18)); // another channel id
    frames.push(frame.slice(0, -1), frame.slice(0, 60));
  }
  for (const frame of frames) {
    assert.equal((await phone.take(frame)).kind, "refused");
    assert.deepEqual(phone.state, state);
  }
  assert.equal((await phone.take(old)).kind, "refused");
  assert.equal(await daemon.accept(await phone.accept(fresh)), true);
  await talk(daemon, phone);
});

Deno.test("phoneReceive() refuses an authentic offer that is malformed, and changes nothing", async () => {
  const phone = new TestPhone();
  const { state } = phone;
  const secret = await handshakeSecret(await rootKey(fromHex(state.root)!));
  const key = await frameKey(secret);
  const recipient = IDENTITIES[0]!.recipient;
  const misspelt = recipient.slice(0, -1) + (recipient.endsWith("q") ? "p" : "q");
  const classical = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
  const plaintexts = [
    utf8("{}"),
    encodeOffer(classical, []),
    encodeOffer(misspelt, []),
    encodeOffer(recipient, ["x"]),
    encodeOffer(recipient, Array(MAX_EARLIER + 1).fill("0".repeat(32))),
    utf8(`{"recipient":"${recipient}","v":1}`),
  ];
  const elsewhere = { kind: "offer", channel: randomBytes(16), session: randomBytes(16), number: 0 } as const;
  const strange = await sealFrame(key, "to_phone", elsewhere, encodeOffer(recipient, []));
  assert.equal((await phone.take(strange)).kind, "refused"); // of another channel
  for (const plaintext of plaintexts) {
    const head = { kind: "offer", channel: fromHex(CHANNEL)!, session: randomBytes(16), number: 0 } as const;
    assert.equal((await phone.take(await sealFrame(key, "to_phone", head, plaintext))).kind, "refused");
    assert.deepEqual(phone.state, state);
  }
  await phone.accept(await offerUnder(state.root, 0, []));
});

Deno.test("phoneReceive() does not take a full list of earlier runs for a second daemon", async () => {
  const [daemon, phone] = [new TestDaemon(), new TestPhone()];
  await phone.accept(await daemon.start());
  const ids = Array.from({ length: MAX_EARLIER }, (_, i) => i.toString(16).padStart(32, "0"));
  daemon.disk = { ...daemon.disk, offered: ids }; // it started so often since that the run we answered fell out
  await connect(daemon, phone);
  assert.equal(phone.state.locked, null);
});
