/** What both test files of `webauthn_check.ts` need: the vectors, and a step instead of a result. */

import assert from "node:assert/strict";
import type { Assertion, AssertionDevice } from "@custos/core/assertion";
import { type Bytes, fromBase64url, toBase64url } from "@custos/core/bytes";
import { type CBORType, decodeCBOR } from "@levischuck/tiny-cbor";
import type { Registration, WebauthnStep } from "../webauthn_check.ts";
// Written by `tests/phone/authenticator_vectors.ts`: signed bytes, good ones and one for each way to be wrong.
import vectors from "./webauthn.json" with { type: "json" };

export { vectors };

export const device: AssertionDevice = vectors.device;
export const challenge: Bytes = bytesOf(vectors.challenge);
export const expected: { challenge: Bytes; rp_id: string; origin: string } = {
  challenge,
  rp_id: device.rp_id,
  origin: device.origin,
};
export const approval: Assertion = vectors.assertions[0]!.assertion;
export const registration: Registration = vectors.registrations[0]!.registration;

export function bytesOf(text: string): Bytes {
  const bytes = fromBase64url(text);
  if (bytes === null) throw new Error("the vector is not base64url");
  return bytes;
}

/** The step that refused, or `null`; fails if the refusal's text holds what was expected or sent. */
export function stepOf(
  result: { ok: true } | { ok: false; step: WebauthnStep; message: string },
): WebauthnStep | null {
  if (result.ok) return null;
  assert.match(result.message, /^The passkey's answer was refused: [^:]+\.$/);
  for (const value of [vectors.challenge, device.credential_id, device.public_key, device.rp_id]) {
    assert.equal(result.message.includes(value), false);
  }
  return result.step;
}

/** The COSE key inside a registration: the last 77 bytes before the extensions (14 bytes, `{"hmac-secret": true}`). */
export function keyOf(made: Registration): string {
  const object = decodeCBOR(bytesOf(made.attestation_object)) as Map<string, CBORType>;
  return toBase64url((object.get("authData") as Uint8Array).slice(-14 - 77, -14));
}
