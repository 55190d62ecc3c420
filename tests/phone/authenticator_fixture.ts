/** What the tests of the software authenticator share: short ways to touch, and a device that is enrolled. */

import assert from "node:assert/strict";
import type { AssertionDevice } from "@custos/core/assertion";
import { fromBase64url } from "@custos/core/bytes";
import { prfInputs } from "@custos/core/device_keys";
import { verifyRegistration } from "@custos/daemon/webauthn_check";
import { SoftwareAuthenticator } from "./authenticator.ts";

export const rp_id = "phone.example.test";
export const origin = `https://${rp_id}`;
export const random = (length = 32) => crypto.getRandomValues(new Uint8Array(length));
export const bytesOf = (text: string) => fromBase64url(text)!;
export const prf = await prfInputs("daemon", "epoch");

export const create = (
  device: SoftwareAuthenticator,
  more: { challenge?: Uint8Array; user_id?: Uint8Array; exclude_credentials?: Uint8Array[]; rp_id?: string } =
    {},
) =>
  device.create({
    rp_id,
    rp_name: "custos",
    user_id: random(),
    user_name: "custos",
    challenge: random(),
    exclude_credentials: [],
    prf,
    ...more,
  });

export const get = (
  device: SoftwareAuthenticator,
  id: string,
  more: { challenge?: Uint8Array; prf?: typeof prf; allow_credentials?: Uint8Array[]; rp_id?: string } = {},
) => device.get({ rp_id, challenge: random(), allow_credentials: [bytesOf(id)], prf, ...more });

/** A device with one passkey, registered through the daemon's own check. */
export async function enrolled(): Promise<{ phone: SoftwareAuthenticator; device: AssertionDevice }> {
  const phone = new SoftwareAuthenticator(origin);
  const challenge = random();
  const result = await verifyRegistration(await create(phone, { challenge }), { challenge, rp_id, origin });
  assert.ok(result.ok);
  return { phone, device: result.device };
}

export const named = (name: string) => (error: unknown) =>
  error instanceof DOMException && error.name === name;
