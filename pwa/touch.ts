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

/** This device's own passkey, ready to be asked: nothing has to be computed between a tap and the passkey (B122). */
export interface AskedDevice extends AskedPasskey {
  /** What the log says the passkey derives. */
  recipient: string;
}

/** The passkey of this device, and its inputs of the present epoch. Throws `no_device` where the device was removed. */
export async function askedDevice<K>(record: PhoneRecord<K>): Promise<AskedDevice> {
  const { rp_id, credential_id, recipient } = ownDevice(record);
  return { rp_id, credential_id, recipient, prf: await prfInputs(record.daemon, record.log.state.epoch) };
}

/**
 * One touch of this device's own passkey. The authenticator is asked before anything is awaited. Throws `no_device` when
 * it derives another recipient than the log lists: then nothing is approved, and nothing enrols again by itself.
 */
export async function touchAsked(
  authenticator: PasskeyAuthenticator,
  device: AskedDevice,
  challenge: Bytes,
): Promise<DeviceTouch> {
  const { assertion, keys } = await touchOf(authenticator, device, challenge);
  if (assertion.credential_id !== device.credential_id) {
    throw new CustosError("no_device", "Another passkey answered. Nothing was approved.");
  }
  requireRecipient(keys.recipient, device.recipient);
  const identity = identityOf(keys);
  keys.identity.wipe();
  return { assertion, identity };
}

/** {@link touchAsked} of this device as the record has it. */
export async function touchDevice<K>(
  authenticator: PasskeyAuthenticator,
  record: PhoneRecord<K>,
  challenge: Bytes,
): Promise<DeviceTouch> {
  return await touchAsked(authenticator, await askedDevice(record), challenge);
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
