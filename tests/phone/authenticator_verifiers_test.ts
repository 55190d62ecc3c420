import assert from "node:assert/strict";
import { type Assertion, type AssertionDevice, verifyAssertion } from "@custos/core/assertion";
import { toBase64url } from "@custos/core/bytes";
import { deriveDeviceKeys, requireRecipient } from "@custos/core/device_keys";
import { CustosError } from "@custos/core/errors";
import type { PasskeyCreated } from "@custos/core/passkey";
import { verifyApproval, verifyRegistration } from "@custos/daemon/webauthn_check";
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { SoftwareAuthenticator } from "./authenticator.ts";
import { bytesOf, create, enrolled, get, origin, random, rp_id } from "./authenticator_fixture.ts";

const libraryRegistration = (made: PasskeyCreated, challenge: Uint8Array) =>
  verifyRegistrationResponse({
    response: {
      id: made.credential_id,
      rawId: made.credential_id,
      type: "public-key",
      response: { clientDataJSON: made.client_data_json, attestationObject: made.attestation_object },
      clientExtensionResults: {},
    },
    expectedChallenge: toBase64url(challenge),
    expectedOrigin: origin,
    expectedRPID: rp_id,
  });

const libraryAssertion = (made: Assertion, device: AssertionDevice, challenge: Uint8Array) =>
  verifyAuthenticationResponse({
    response: {
      id: made.credential_id,
      rawId: made.credential_id,
      type: "public-key",
      response: {
        clientDataJSON: made.client_data_json,
        authenticatorData: made.authenticator_data,
        signature: made.signature,
      },
      clientExtensionResults: {},
    },
    expectedChallenge: toBase64url(challenge),
    expectedOrigin: origin,
    expectedRPID: rp_id,
    credential: { id: device.credential_id, publicKey: bytesOf(device.public_key), counter: 0 },
  });

Deno.test("SoftwareAuthenticator.create() makes bytes that SimpleWebAuthn and custos accept", async () => {
  const phone = new SoftwareAuthenticator(origin);
  const challenge = random();
  const made = await create(phone, { challenge });
  const { verified, registrationInfo } = await libraryRegistration(made, challenge);
  assert.equal(verified, true);
  assert.equal(registrationInfo?.fmt, "none");
  assert.equal(registrationInfo?.aaguid, "00000000-0000-0000-0000-000000000000");
  assert.equal(registrationInfo?.userVerified, true);
  const own = await verifyRegistration(made, { challenge, rp_id, origin });
  assert.ok(own.ok);
  assert.equal(own.device.public_key, toBase64url(registrationInfo!.credential.publicKey));
  assert.equal(made.prf_enabled, true);
});

Deno.test("SoftwareAuthenticator.get() makes bytes that SimpleWebAuthn, core and daemon accept", async () => {
  const { phone, device } = await enrolled();
  // Several, because about one signature in 128 has a short integer, which DER writes in fewer bytes.
  for (let time = 0; time < 40; time++) {
    const challenge = random();
    const touch = await get(phone, device.credential_id, { challenge });
    assert.deepEqual(await verifyAssertion(touch, device, challenge), { ok: true, sign_count: 0 });
    assert.deepEqual(await verifyApproval(touch, device, challenge, 0), { ok: true, sign_count: 0 });
    assert.equal((await libraryAssertion(touch, device, challenge)).verified, true);
  }
});

Deno.test("deriveDeviceKeys() refuses a provider that gives one value twice", async () => {
  const { phone, device } = await enrolled();
  phone.misbehave = { prf_twice: true };
  const touch = await get(phone, device.credential_id);
  await assert.rejects(deriveDeviceKeys(touch.prf), CustosError);
});

Deno.test("requireRecipient() notices a PRF that changed at the second touch", async () => {
  const { phone, device } = await enrolled();
  phone.misbehave = { change_prf_on_touch: 2 };
  const touch = async () => (await deriveDeviceKeys((await get(phone, device.credential_id)).prf)).recipient;
  const [one, two, three] = [await touch(), await touch(), await touch()];
  assert.throws(() => requireRecipient(two, one), CustosError);
  requireRecipient(three, one);
});

// Why the daemon has checks of its own: the library alone accepts each of these. If a later version refuses one, the
// row goes, and the check stays.
Deno.test("verifyApproval() and verifyRegistration() refuse what SimpleWebAuthn alone accepts", async () => {
  const { phone, device } = await enrolled();
  const challenge = random();

  phone.misbehave = { cross_origin: true };
  const framed = await get(phone, device.credential_id, { challenge });
  assert.equal((await libraryAssertion(framed, device, challenge)).verified, true);
  const refused = await verifyApproval(framed, device, challenge, 0);
  assert.equal(!refused.ok && refused.step, "cross_origin");

  phone.misbehave = {};
  const renamed = {
    ...await get(phone, device.credential_id, { challenge }),
    credential_id: toBase64url(random(20)),
  };
  assert.equal((await libraryAssertion(renamed, device, challenge)).verified, true);
  const foreign = await verifyApproval(renamed, device, challenge, 0);
  assert.equal(!foreign.ok && foreign.step, "credential");

  phone.misbehave = { attest: true };
  const attested = await create(phone, { challenge });
  assert.equal((await libraryRegistration(attested, challenge)).verified, true);
  const packed = await verifyRegistration(attested, { challenge, rp_id, origin });
  assert.equal(!packed.ok && packed.step, "attestation_format");
});

Deno.test("verifyApproval() and verifyRegistration() end where the library alone refuses, without its text", async () => {
  const { phone, device } = await enrolled();
  const challenge = random();
  phone.misbehave = { more_client_data: `"tokenBinding":"odd"` }; // core ignores it, the library throws
  const touch = await get(phone, device.credential_id, { challenge });
  const made = await create(phone, { challenge });
  assert.equal((await verifyAssertion(touch, device, challenge)).ok, true);
  const message = "The passkey's answer was refused: the WebAuthn library refused it.";
  const refused = { ok: false, step: "second_opinion", message };
  assert.deepEqual(await verifyApproval(touch, device, challenge, 0), refused);
  assert.deepEqual(await verifyRegistration(made, { challenge, rp_id, origin }), refused);
});

Deno.test("verifyApproval() refuses a passkey of the same device that was not asked for", async () => {
  const { phone, device } = await enrolled();
  const other = await create(phone);
  const challenge = random();
  phone.misbehave = { answer_with: other.credential_id };
  const touch = await get(phone, device.credential_id, { challenge });
  const refused = await verifyApproval(touch, device, challenge, 0);
  assert.equal(!refused.ok && refused.step, "credential");
});
