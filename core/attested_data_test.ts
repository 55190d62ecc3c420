import assert from "node:assert/strict";
import { readAttestedData, readNoneAttestation } from "./attested_data.ts";
import { FLAGS } from "./assertion_data.ts";
import { pointToCose } from "./assertion_es256.ts";
import { type Bytes, concat, randomBytes, toBase64url, utf8 } from "./bytes.ts";
import { sha256 } from "./labels.ts";

const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]);
const cose = pointToCose(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
const rpIdHash = await sha256(utf8("phone.example.test"));
const flags = FLAGS.user_present | FLAGS.user_verified | FLAGS.attested_credential;
const id = randomBytes(20);

function authData(change: { flags?: number; id?: Bytes; length?: number; cose?: Bytes; tail?: Bytes } = {}) {
  const credential = change.id ?? id;
  const length = change.length ?? credential.length;
  return concat(
    rpIdHash,
    Uint8Array.of(change.flags ?? flags, 0, 0, 0, 0),
    new Uint8Array(16),
    Uint8Array.of(length >> 8, length & 255),
    credential,
    change.cose ?? cose,
    change.tail ?? new Uint8Array(0),
  );
}

function attestation(data: Bytes, head = "a363666d74646e6f6e656761747453746d74a0686175746844617461"): Bytes {
  const length = data.length < 256
    ? Uint8Array.of(0x58, data.length)
    : Uint8Array.of(0x59, data.length >> 8, data.length & 255);
  return concat(Uint8Array.from(head.match(/../g)!, (byte) => parseInt(byte, 16)), length, data);
}

const EXTENSION = Uint8Array.from([0xa1, 0x6b, ...utf8("hmac-secret"), 0xf5]);

Deno.test("readAttestedData() gives id, key, flags and RP id hash of a new passkey", () => {
  for (const tail of [undefined, EXTENSION]) {
    const data = authData(tail === undefined ? {} : { tail, flags: flags | FLAGS.extensions });
    const read = readAttestedData(data);
    assert.equal(read?.credential_id, toBase64url(id));
    assert.equal(read?.public_key, toBase64url(cose));
    assert.deepEqual(read?.rp_id_hash, rpIdHash);
    assert.equal(read?.flags, data[32]);
  }
});

Deno.test("readAttestedData() refuses everything but one form", () => {
  const offCurve = Uint8Array.from(cose);
  offCurve[76]! ^= 1;
  const rows: [string, Uint8Array][] = [
    ["no bytes", new Uint8Array(0)],
    ["the fixed part alone", authData().slice(0, 37)],
    ["no credential flag", authData({ flags: flags & ~FLAGS.attested_credential })],
    ["a short credential id", authData({ id: randomBytes(15) })],
    ["a long credential id", authData({ id: randomBytes(1_024) })],
    ["a length beyond the end", authData({ length: 60_000 })],
    ["a length that is one less", authData({ length: id.length - 1 })],
    ["no key", authData({ cose: new Uint8Array(0) })],
    ["a key off the curve", authData({ cose: offCurve })],
    ["an extension without its flag", authData({ tail: EXTENSION })],
    ["the flag without an extension", authData({ flags: flags | FLAGS.extensions })],
    ["bytes left over", authData({ tail: Uint8Array.of(0) })],
    ["bytes after the extension", authData({ flags: flags | FLAGS.extensions, tail: concat(EXTENSION, id) })],
    ["too long", authData({ tail: new Uint8Array(5_000) })],
  ];
  for (const [name, data] of rows) assert.equal(readAttestedData(data), null, name);
});

Deno.test("readNoneAttestation() gives the authenticator data, with one and two bytes of length", () => {
  for (const data of [authData(), authData({ id: randomBytes(1_000) })]) {
    assert.deepEqual(readNoneAttestation(attestation(data)), data);
  }
});

Deno.test("readNoneAttestation() refuses every other map", () => {
  const data = authData();
  const good = attestation(data);
  const longForm = concat(good.slice(0, 28), Uint8Array.of(0x59, 0, data.length), data);
  const rows: [string, Uint8Array][] = [
    ["no bytes", new Uint8Array(0)],
    ["the head alone", good.slice(0, 28)],
    ["a length without bytes", good.slice(0, 30)],
    ["another format", attestation(data, "a363666d74667061636b65646761747453746d74a0686175746844617461")],
    ["a statement", attestation(data, "a363666d74646e6f6e656761747453746d74a163616c6726686175746844617461")],
    ["another order", attestation(data, "a36761747453746d74a063666d74646e6f6e65686175746844617461")],
    ["a map of four", attestation(data, "a463666d74646e6f6e656761747453746d74a0686175746844617461")],
    ["one byte more", concat(good, Uint8Array.of(0))],
    ["one byte less", good.slice(0, -1)],
    ["a length in a longer form", longForm],
    ["a text instead of bytes", concat(good.slice(0, 28), Uint8Array.of(0x78), good.slice(29))],
  ];
  for (const [name, object] of rows) assert.equal(readNoneAttestation(object), null, name);
});
