import assert from "node:assert/strict";
import { Decrypter, Encrypter } from "age-encryption";
import fc from "fast-check";
import { fromBase64url, fromHex, fromUtf8, toBase64url, toHex, utf8 } from "./bytes.ts";
import {
  type AgeKeys,
  deriveDeviceKeys,
  deriveRecoveryKeys,
  prfBytes,
  prfInputs,
  requireRecipient,
  verifyRecoverySignature,
} from "./device_keys.ts";
import { CustosError } from "./errors.ts";
import { Secret } from "./secret.ts";
// Computed once, and again by an independent program (HKDF, bech32 and Ed25519 of another language).
import vectors from "./testdata/device_keys.json" with { type: "json" };

const bytes = (hex: string) => fromHex(hex)!;
const identityOf = (keys: AgeKeys) => keys.identity.expose(fromUtf8);
const first = bytes(vectors.device.first);
const second = bytes(vectors.device.second);

Deno.test("prfInputs() gives the vector's inputs", async () => {
  const { daemon, epoch, ...expected } = vectors.prf_inputs;
  const inputs = await prfInputs(daemon, epoch);
  assert.deepEqual({ first: toHex(inputs.first), second: toHex(inputs.second) }, expected);
});

Deno.test("prfInputs() differs for each daemon, epoch and half", async () => {
  const all = [await prfInputs("a", "b"), await prfInputs("a", "c"), await prfInputs("b", "b")];
  const seen = new Set(all.flatMap((pair) => [toHex(pair.first), toHex(pair.second)]));
  assert.equal(seen.size, 6);
});

Deno.test("deriveDeviceKeys() gives the vector's identity and recipient", async () => {
  const keys = await deriveDeviceKeys({ first, second });
  assert.equal(identityOf(keys), vectors.device.identity);
  assert.equal(keys.recipient, vectors.device.recipient);
});

Deno.test("deriveDeviceKeys() takes every form that a provider returns", async () => {
  const inside = new Uint8Array(40);
  inside.set(first, 4);
  const rows: [string, unknown][] = [
    ["a plain array of numbers", [...first]],
    ["an ArrayBuffer", first.slice().buffer],
    ["a view into a larger buffer", inside.subarray(4, 36)],
    ["a DataView", new DataView(first.slice().buffer)],
  ];
  for (const [name, output] of rows) {
    const keys = await deriveDeviceKeys({ first: output, second });
    assert.equal(keys.recipient, vectors.device.recipient, name);
  }
});

Deno.test("deriveDeviceKeys() refuses outputs that are not two different values of 32 bytes", async () => {
  const rows: [string, unknown, unknown][] = [
    ["both equal", first, first],
    ["both equal in two forms", first, [...first]],
    ["no first", undefined, second],
    ["no second", first, undefined],
    ["null", null, second],
    ["31 bytes", first.slice(0, 31), second],
    ["33 bytes", first, new Uint8Array(33)],
    ["48 bytes, as a still-encrypted answer has", new Uint8Array(48).fill(1), second],
    ["nothing", new Uint8Array(0), second],
    ["an ArrayBuffer of 64 bytes", new ArrayBuffer(64), second],
    ["a list with a number above 255", [...first.slice(0, 31), 256], second],
    ["a list with a negative number", [...first.slice(0, 31), -1], second],
    ["a list with a fraction", [...first.slice(0, 31), 0.5], second],
    ["a list of texts", Array.from(first, String), second],
    ["base64url text", toBase64url(first), second],
    ["an object with a length", { length: 32 }, second],
  ];
  for (const [name, one, two] of rows) {
    const isNoDevice = (error: unknown) => error instanceof CustosError && error.kind === "no_device";
    await assert.rejects(deriveDeviceKeys({ first: one, second: two }), isNoDevice, name);
  }
});

Deno.test("deriveDeviceKeys() gives another recipient when a bit of either output changes", async () => {
  const flip = (output: Uint8Array) => output.map((byte, i) => i === 31 ? byte ^ 1 : byte);
  for (const pair of [{ first: flip(first), second }, { first, second: flip(second) }]) {
    const keys = await deriveDeviceKeys(pair);
    assert.notEqual(keys.recipient, vectors.device.recipient);
  }
  const swapped = await deriveDeviceKeys({ first: second, second: first });
  assert.notEqual(swapped.recipient, vectors.device.recipient);
});

Deno.test("deriveDeviceKeys() opens what was sealed to its recipient", async () => {
  const keys = await deriveDeviceKeys({ first, second });
  const encrypter = new Encrypter();
  encrypter.addRecipient(keys.recipient);
  const file = await encrypter.encrypt("canary");
  const decrypter = new Decrypter();
  decrypter.addIdentity(identityOf(keys));
  assert.equal(await decrypter.decrypt(file, "text"), "canary");
});

Deno.test("deriveDeviceKeys() gives an identity that does not print", async () => {
  const keys = await deriveDeviceKeys({ first, second });
  const printed = `${keys.identity} ${JSON.stringify(keys)} ${Deno.inspect(keys)}`;
  assert.equal(printed.includes("AGE-SECRET-KEY"), false);
});

Deno.test("deriveDeviceKeys() leaves the caller's outputs as they were", async () => {
  const mine = first.slice();
  await deriveDeviceKeys({ first: mine, second });
  assert.deepEqual(mine, first);
});

Deno.test("prfBytes() keeps exactly the lists of 32 bytes", () => {
  fc.assert(fc.property(fc.array(fc.integer({ min: -1, max: 256 }), { maxLength: 40 }), (list) => {
    const fits = list.length === 32 && list.every((n) => n >= 0 && n <= 255);
    assert.deepEqual(prfBytes(list), fits ? Uint8Array.from(list) : null);
  }));
  const exact = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 32, maxLength: 32 });
  fc.assert(fc.property(exact, (list) => assert.deepEqual(prfBytes(list), Uint8Array.from(list))));
});

Deno.test("requireRecipient() stops at another recipient, and names neither", () => {
  requireRecipient(vectors.device.recipient, vectors.device.recipient);
  const differ = () => requireRecipient(vectors.device.recipient, vectors.recovery.recipient);
  assert.throws(differ, (error: unknown) => {
    assert.ok(error instanceof CustosError);
    assert.equal(error.kind, "no_device");
    assert.equal(error.message.includes("age1"), false);
    return true;
  });
});

const seed = () => new Secret(bytes(vectors.recovery.seed));

Deno.test("deriveRecoveryKeys() gives the vector's keys and signature", async () => {
  const keys = await deriveRecoveryKeys(seed());
  const signature = await keys.sign(utf8(vectors.recovery.message));
  assert.equal(identityOf(keys), vectors.recovery.identity);
  assert.equal(keys.recipient, vectors.recovery.recipient);
  assert.equal(keys.sign_public, vectors.recovery.sign_public);
  assert.equal(toHex(signature), vectors.recovery.signature);
});

Deno.test("deriveRecoveryKeys() leaves the seed as it was", async () => {
  const mine = seed();
  await deriveRecoveryKeys(mine);
  assert.equal(mine.expose(toHex), vectors.recovery.seed);
});

Deno.test("deriveRecoveryKeys() refuses a seed of any other length", async () => {
  for (const length of [0, 16, 31, 33, 64]) {
    const isBad = (error: unknown) => error instanceof CustosError && error.kind === "bad_request";
    await assert.rejects(deriveRecoveryKeys(new Secret(new Uint8Array(length))), isBad, String(length));
  }
});

Deno.test("verifyRecoverySignature() accepts the vector", async () => {
  const { sign_public, message, signature } = vectors.recovery;
  assert.equal(await verifyRecoverySignature(sign_public, utf8(message), bytes(signature)), true);
});

Deno.test("verifyRecoverySignature() refuses everything else", async () => {
  const { sign_public, message, signature } = vectors.recovery;
  const flipped = bytes(signature);
  flipped[0]! ^= 1;
  const other = fromBase64url(sign_public)!.map((byte) => byte ^ 1);
  const rows: [string, string, Uint8Array, Uint8Array][] = [
    ["another message", sign_public, utf8(`${message} `), bytes(signature)],
    ["a flipped bit", sign_public, utf8(message), flipped],
    ["a signature cut short", sign_public, utf8(message), bytes(signature).slice(0, 63)],
    ["a byte too many", sign_public, utf8(message), bytes(`${signature}00`)],
    ["no signature", sign_public, utf8(message), new Uint8Array(0)],
    ["a zero signature", sign_public, utf8(message), new Uint8Array(64)],
    ["another key", toBase64url(other), utf8(message), bytes(signature)],
    ["a zero key", toBase64url(new Uint8Array(32)), utf8(message), new Uint8Array(64)],
    ["a padded key", `${sign_public}=`, utf8(message), bytes(signature)],
    ["a short key", toBase64url(new Uint8Array(31)), utf8(message), bytes(signature)],
    ["no key", "", utf8(message), bytes(signature)],
  ];
  for (const [name, key, data, sig] of rows) {
    assert.equal(await verifyRecoverySignature(key, data, sig), false, name);
  }
});
