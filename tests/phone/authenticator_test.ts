import assert from "node:assert/strict";
import { toBase64url } from "@custos/core/bytes";
import { deriveDeviceKeys, prfInputs } from "@custos/core/device_keys";
import { CustosError } from "@custos/core/errors";
import { verifyApproval } from "@custos/daemon/webauthn_check";
import { type CBORType, decodeCBOR } from "@levischuck/tiny-cbor";
import { SoftwareAuthenticator } from "./authenticator.ts";
import { bytesOf, create, enrolled, get, named, origin, prf, random } from "./authenticator_fixture.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

Deno.test("SoftwareAuthenticator writes client data exactly as browsers serialise it", async () => {
  const { phone, device } = await enrolled();
  const challenge = random();
  const text = (made: { client_data_json: string }) =>
    new TextDecoder().decode(bytesOf(made.client_data_json));
  const rest = `"challenge":"${toBase64url(challenge)}","origin":"${origin}","crossOrigin":false}`;
  assert.equal(text(await create(phone, { challenge })), `{"type":"webauthn.create",${rest}`);
  assert.equal(text(await get(phone, device.credential_id, { challenge })), `{"type":"webauthn.get",${rest}`);
});

Deno.test("SoftwareAuthenticator sets UP, UV, AT and ED at create, UP and UV at get, and counts 0", async () => {
  const { phone } = await enrolled();
  const made = await create(phone);
  const object = decodeCBOR(bytesOf(made.attestation_object)) as Map<string, CBORType>;
  const atCreate = object.get("authData") as Uint8Array;
  const atGet = bytesOf((await get(phone, made.credential_id)).authenticator_data);
  assert.equal(atCreate[32], 0xc5);
  assert.equal(atGet[32], 0x05);
  assert.equal(atGet.length, 37);
  for (const data of [atCreate, atGet]) assert.deepEqual([...data.slice(33, 37)], [0, 0, 0, 0]);
});

Deno.test("SoftwareAuthenticator gives ids of 16 to 32 bytes", async () => {
  const phone = new SoftwareAuthenticator(origin);
  const ids = [];
  for (let time = 0; time < 20; time++) ids.push(bytesOf((await create(phone)).credential_id));
  assert.ok(ids.every((id) => id.length >= 16 && id.length <= 32));
  assert.equal(new Set(ids.map(toBase64url)).size, ids.length);
});

Deno.test("SoftwareAuthenticator.create() refuses a device that is enrolled already", async () => {
  const { phone, device } = await enrolled();
  const exclude_credentials = [random(20), bytesOf(device.credential_id)];
  await assert.rejects(create(phone, { exclude_credentials }), named("InvalidStateError"));
  assert.equal(phone.exportState().passkeys.length, 1);
  await create(phone, { exclude_credentials: [random(20)] });
});

Deno.test("SoftwareAuthenticator.create() replaces the passkey of the same RP and user id", async () => {
  const phone = new SoftwareAuthenticator(origin);
  const user_id = random();
  const older = await create(phone, { user_id });
  const newer = await create(phone, { user_id });
  const other = await create(phone);
  await assert.rejects(get(phone, older.credential_id), named("NotAllowedError"));
  for (const made of [newer, other]) await get(phone, made.credential_id);
  assert.equal(phone.exportState().passkeys.length, 2);
});

Deno.test("SoftwareAuthenticator.get() answers for named passkeys of this RP only", async () => {
  const { phone, device } = await enrolled();
  const id = device.credential_id;
  await assert.rejects(get(phone, id, { allow_credentials: [] }), named("NotSupportedError"));
  await assert.rejects(get(phone, id, { allow_credentials: [random(20)] }), named("NotAllowedError"));
  await assert.rejects(get(phone, id, { rp_id: "evil.test" }), named("SecurityError"));
  await assert.rejects(get(phone, id, { rp_id: "example.test" }), named("NotAllowedError")); // a parent has its own
  await assert.rejects(create(phone, { rp_id: "evil.test" }), named("SecurityError"));
  assert.equal(phone.touches, 0);
});

Deno.test("SoftwareAuthenticator.get() works again after the person cancelled (B121)", async () => {
  const { phone, device } = await enrolled();
  const challenge = random();
  phone.misbehave = { cancel: true };
  await assert.rejects(get(phone, device.credential_id, { challenge }), named("NotAllowedError"));
  phone.misbehave = {};
  const touch = await get(phone, device.credential_id, { challenge });
  assert.equal((await verifyApproval(touch, device, challenge, 0)).ok, true);
});

Deno.test("SoftwareAuthenticator.get() evaluates the PRF as W3C and CTAP define it", async () => {
  const { phone, device } = await enrolled();
  const touch = await get(phone, device.credential_id);
  const secret = bytesOf(phone.exportState().passkeys[0]!.prf_secret);
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  for (const half of ["first", "second"] as const) {
    const salted = new Uint8Array(13 + 32);
    salted.set(utf8("WebAuthn PRF"));
    salted.set(prf[half], 13);
    const salt = await crypto.subtle.digest("SHA-256", salted);
    assert.deepEqual(touch.prf[half], new Uint8Array(await crypto.subtle.sign("HMAC", key, salt)));
  }
});

Deno.test("SoftwareAuthenticator.get() gives one identity for each passkey and epoch", async () => {
  const { phone, device } = await enrolled();
  const recipient = async (id: string, inputs = prf) =>
    (await deriveDeviceKeys((await get(phone, id, { prf: inputs })).prf)).recipient;
  const one = await recipient(device.credential_id);
  assert.equal(await recipient(device.credential_id), one);
  assert.notEqual(await recipient(device.credential_id, await prfInputs("daemon", "next epoch")), one);
  assert.notEqual(await recipient((await create(phone)).credential_id), one);
});

Deno.test("SoftwareAuthenticator.get() hands the PRF output over where nothing can send it by accident", async () => {
  const { phone, device } = await enrolled();
  const touch = await get(phone, device.credential_id);
  assert.equal(touch.prf.first.length, 32);
  const sent = [JSON.stringify(touch), JSON.stringify({ ...touch }), JSON.stringify([touch])].join();
  assert.equal(sent.includes("prf"), false);
  assert.deepEqual(Object.keys(touch).sort(), [
    "authenticator_data",
    "client_data_json",
    "credential_id",
    "signature",
  ]);
});

Deno.test("SoftwareAuthenticator keeps the PRF output out of every signed field", async () => {
  const { phone, device } = await enrolled();
  const touch = await get(phone, device.credential_id);
  const signed = [touch.client_data_json, touch.authenticator_data, touch.signature].map(bytesOf);
  const fields = signed.map((bytes) => String(bytes)).join(";");
  for (const output of [touch.prf.first, touch.prf.second]) {
    assert.equal(fields.includes(String(output)), false);
    assert.equal(fields.includes(String(utf8(toBase64url(output)))), false);
  }
});

Deno.test("SoftwareAuthenticator without PRF says so at create, and stops at get", async () => {
  const { phone, device } = await enrolled();
  phone.misbehave = { no_prf: true };
  assert.equal((await create(phone)).prf_enabled, false);
  const isNoDevice = (error: unknown) => error instanceof CustosError && error.kind === "no_device";
  await assert.rejects(get(phone, device.credential_id), isNoDevice);
});

Deno.test("SoftwareAuthenticator gives the same outputs as a list of numbers", async () => {
  const { phone, device } = await enrolled();
  const bytes = await get(phone, device.credential_id);
  phone.misbehave = { prf_form: "numbers" };
  assert.deepEqual((await get(phone, device.credential_id)).prf, bytes.prf);
});

Deno.test("SoftwareAuthenticator.exportState() carries a device over to another process", async () => {
  const { phone, device } = await enrolled();
  const file = JSON.stringify(phone.exportState());
  const again = new SoftwareAuthenticator(origin, JSON.parse(file));
  const challenge = random();
  const touch = await get(again, device.credential_id, { challenge });
  assert.equal((await verifyApproval(touch, device, challenge, 0)).ok, true);
  assert.deepEqual(touch.prf, (await get(phone, device.credential_id)).prf);
  assert.equal(JSON.stringify(again.exportState()), file);
});

Deno.test("SoftwareAuthenticator refuses a file that holds no passkeys", () => {
  for (const state of [null, {}, { v: 2, passkeys: [] }, { v: 1 }, { v: 1, passkeys: [{}] }, "text"]) {
    assert.throws(() => new SoftwareAuthenticator(origin, state), /does not hold the passkeys/);
  }
});
