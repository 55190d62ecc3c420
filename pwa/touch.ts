/**
 * One touch of the passkey: it signs the hash of exactly what is approved, and gives the keys that open a header. The
 * keys are held against the policy log before anything is done with them (DESIGN §6.2).
 */

import type { Assertion } from "@custos/core/assertion";
import { type Bytes, fromBase64url, fromUtf8 } from "@custos/core/bytes";
import { type AgeKeys, deriveDeviceKeys, prfInputs, requireRecipient } from "@custos/core/device_keys";
import { CustosError } from "@custos/core/errors";
import type { PasskeyAuthenticator, PasskeyTouch, PrfPair } from "@custos/core/passkey";
import { ownDevice, type PhoneRecord } from "./phone_store.ts";

/** What a touch gave. `identity` opens every header of this device's epoch: use it once and let it go. */
export interface DeviceTouch {
  assertion: Assertion;
  identity: string;
}

/** A passkey that is asked. */
export interface AskedPasskey {
  rp_id: string;
  /** Base64url. */
  credential_id: string;
  prf: PrfPair;
}

/** One touch over `challenge`, and the keys it derives. Throws `no_device` where the passkey gives no usable keys. */
export async function touchOf(
  authenticator: PasskeyAuthenticator,
  passkey: AskedPasskey,
  challenge: Bytes,
): Promise<{ assertion: Assertion; keys: AgeKeys }> {
  const touch = await authenticator.get({
    rp_id: passkey.rp_id,
    challenge,
    allow_credentials: [fromBase64url(passkey.credential_id)!],
    prf: passkey.prf,
  });
  const keys = await deriveDeviceKeys(touch.prf);
  touch.prf.first.fill(0);
  touch.prf.second.fill(0);
  return { assertion: assertionOf(touch), keys };
}

/**
 * One touch of this device's own passkey. Throws `no_device` when it derives another recipient than the log lists: then
 * nothing is approved, and nothing enrols again by itself.
 */
export async function touchDevice<K>(
  authenticator: PasskeyAuthenticator,
  record: PhoneRecord<K>,
  challenge: Bytes,
): Promise<DeviceTouch> {
  const device = ownDevice(record);
  const prf = await prfInputs(record.daemon, record.log.state.epoch);
  const { rp_id, credential_id } = device;
  const { assertion, keys } = await touchOf(authenticator, { rp_id, credential_id, prf }, challenge);
  if (assertion.credential_id !== credential_id) {
    throw new CustosError("no_device", "Another passkey answered. Nothing was approved.");
  }
  requireRecipient(keys.recipient, device.recipient);
  const identity = identityOf(keys);
  keys.identity.wipe();
  return { assertion, identity };
}

/** The identity as age takes it. */
export function identityOf(keys: AgeKeys): string {
  return keys.identity.expose(fromUtf8);
}

/** The four fields that travel, copied by name: the PRF outputs of a touch must never travel (DESIGN §6.2). */
function assertionOf(touch: PasskeyTouch): Assertion {
  const { credential_id, client_data_json, authenticator_data, signature } = touch;
  return { credential_id, client_data_json, authenticator_data, signature };
}
