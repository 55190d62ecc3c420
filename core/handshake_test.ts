import assert from "node:assert/strict";
import { toHex, utf8 } from "./bytes.ts";
import { canonicalBytes } from "./canonical.ts";
import { handshakeTranscript, openHandshake } from "./channel.ts";
import { frameKey, sealFrame } from "./frame.ts";
import {
  encodeAccept,
  encodeOffer,
  handshakeSecret,
  MAX_EARLIER,
  pairingSecrets,
  readAccept,
  readOffer,
  rootKey,
  sessionSecrets,
} from "./handshake.ts";
import { flipBit, hex, IDENTITIES, kindOf } from "./testdata/samples.ts";
import vectors from "./testdata/session.json" with { type: "json" };

const root = await rootKey(hex(vectors.root));
const { recipient } = IDENTITIES[0]!;
const id = "0123456789abcdef0123456789abcdef";

Deno.test("handshakeTranscript() gives the vector, and changes with each side's frame", async () => {
  const [offer, accept] = [hex(vectors.offer), hex(vectors.accept)];
  assert.equal(toHex(await handshakeTranscript(offer, accept)), vectors.transcript);
  for (const [a, b] of [[flipBit(offer, 9), accept], [offer, flipBit(accept, 9)], [accept, offer]] as const) {
    assert.notEqual(toHex(await handshakeTranscript(a, b)), vectors.transcript);
  }
});

Deno.test("sessionSecrets() and handshakeSecret() give the vectors", async () => {
  const secrets = await sessionSecrets(root, hex(vectors.fresh), hex(vectors.transcript));
  assert.deepEqual(
    [secrets.to_phone, secrets.to_daemon, secrets.next_root, await handshakeSecret(root)].map(toHex),
    [vectors.to_phone, vectors.to_daemon, vectors.next_root, vectors.handshake_secret],
  );
});

Deno.test("sessionSecrets() gives four unrelated keys, and others for another root, fresh value or transcript", async () => {
  const [fresh, transcript] = [hex(vectors.fresh), hex(vectors.transcript)];
  const keys = async (...of: Parameters<typeof sessionSecrets>) =>
    Object.values(await sessionSecrets(...of)).map(toHex);
  const all = [
    await keys(root, fresh, transcript),
    await keys(await rootKey(flipBit(hex(vectors.root), 0)), fresh, transcript),
    await keys(root, flipBit(fresh, 0), transcript),
    await keys(root, fresh, flipBit(transcript, 0)),
    [toHex(await handshakeSecret(root))],
  ].flat();
  assert.equal(new Set(all).size, 13);
});

Deno.test("pairingSecrets() gives the vector", async () => {
  const { id, secrets } = await pairingSecrets(root, hex(vectors.transcript));
  const { to_phone, to_daemon } = secrets;
  assert.deepEqual({ id, to_phone: toHex(to_phone), to_daemon: toHex(to_daemon) }, vectors.pairing);
});

Deno.test("rootKey() cannot be exported", async () => {
  await assert.rejects(() => crypto.subtle.exportKey("raw", root));
});

Deno.test("openHandshake() opens a frame under its secret and direction only", async () => {
  const secret = await handshakeSecret(root);
  const head = {
    kind: "offer",
    channel: hex(vectors.channel),
    session: hex(vectors.session),
    number: 0,
  } as const;
  const frame = await sealFrame(await frameKey(secret), "to_phone", head, utf8("x"));
  assert.deepEqual(await openHandshake(secret, "to_phone", frame), utf8("x"));
  assert.equal(await openHandshake(secret, "to_daemon", frame), null);
  assert.equal(await openHandshake(flipBit(secret, 0), "to_phone", frame), null);
});

Deno.test("readOffer() and readAccept() read back what was encoded", () => {
  assert.deepEqual(readOffer(encodeOffer(recipient, [id])), { v: 1, recipient, earlier: [id] });
  assert.deepEqual(readAccept(encodeAccept(utf8("age"))), utf8("age"));
});

Deno.test("encodeOffer() fits 16 KiB with the longest list of earlier offers", () => {
  assert.ok(encodeOffer(recipient, Array(MAX_EARLIER).fill(id)).length <= 16_380);
});

const offer = { v: 1, recipient, earlier: [id] };
const accept = { v: 1, sealed: "AAAA" };
const REFUSED: [name: string, read: (bytes: Uint8Array) => unknown, plaintext: Uint8Array][] = [
  ["an offer of another version", readOffer, canonicalBytes({ ...offer, v: 2 })],
  ["an offer with a member more", readOffer, canonicalBytes({ ...offer, generation: 1 })],
  ["an offer without a recipient", readOffer, canonicalBytes({ ...offer, recipient: undefined })],
  ["an offer to a classical recipient", readOffer, canonicalBytes({ ...offer, recipient: "age1x" })],
  ["an offer without its list", readOffer, canonicalBytes({ ...offer, earlier: undefined })],
  ["an offer with ids in capitals", readOffer, canonicalBytes({ ...offer, earlier: [id.toUpperCase()] })],
  ["an offer with a list too long", readOffer, encodeOffer(recipient, Array(MAX_EARLIER + 1).fill(id))],
  ["an acceptance in an offer's place", readOffer, canonicalBytes(accept)],
  ["an acceptance of another version", readAccept, canonicalBytes({ ...accept, v: 2 })],
  ["an acceptance with a member more", readAccept, canonicalBytes({ ...accept, fresh: "AAAA" })],
  ["an acceptance that is padded", readAccept, canonicalBytes({ ...accept, sealed: "AA==" })],
  ["an offer in an acceptance's place", readAccept, canonicalBytes(offer)],
  ["no document", readAccept, utf8("x")],
];

for (const [name, read, plaintext] of REFUSED) {
  Deno.test(`${read.name}() refuses ${name}`, async () => {
    assert.equal(await kindOf(() => read(plaintext)), "bad_request");
  });
}
