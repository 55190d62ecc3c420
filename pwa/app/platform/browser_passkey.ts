/**
 * The browser's passkeys behind the one interface that the protocol code knows. Assertions are taken apart by hand:
 * `toJSON()` of a credential holds the PRF output, and is never called (DESIGN §6.2).
 */

import { type Bytes, toBase64url } from "@custos/core/bytes";
import { prfBytes } from "@custos/core/device_keys";
import { CustosError } from "@custos/core/errors";
import type {
  PasskeyAuthenticator,
  PasskeyCreate,
  PasskeyCreated,
  PasskeyGet,
  PasskeyTouch,
  PrfPair,
} from "@custos/core/passkey";

const ES256 = -7;
/** Two minutes for a person to find a finger. */
const TIMEOUT_MS = 120_000;

/** `navigator.credentials` as a {@link PasskeyAuthenticator}. */
export const BROWSER_PASSKEY: PasskeyAuthenticator = { create, get };

async function create(options: PasskeyCreate): Promise<PasskeyCreated> {
  const credential = await navigator.credentials.create({
    publicKey: {
      rp: { id: options.rp_id, name: options.rp_name },
      user: { id: buffer(options.user_id), name: options.user_name, displayName: options.user_name },
      challenge: buffer(options.challenge),
      pubKeyCredParams: [{ type: "public-key", alg: ES256 }],
      excludeCredentials: options.exclude_credentials.map(named),
      authenticatorSelection: {
        authenticatorAttachment: "platform",
        residentKey: "required",
        requireResidentKey: true,
        userVerification: "required",
      },
      attestation: "none",
      timeout: TIMEOUT_MS,
      extensions: { prf: { eval: inputs(options.prf) } },
    },
  }) as PublicKeyCredential | null;
  if (credential === null) throw cancelled();
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    credential_id: toBase64url(new Uint8Array(credential.rawId)),
    client_data_json: toBase64url(new Uint8Array(response.clientDataJSON)),
    attestation_object: toBase64url(new Uint8Array(response.attestationObject)),
    prf_enabled: credential.getClientExtensionResults().prf?.enabled === true,
  };
}

async function get(options: PasskeyGet): Promise<PasskeyTouch> {
  if (options.allow_credentials.length === 0) {
    throw new CustosError("no_device", "There is no passkey to ask for. Pair this phone again.");
  }
  const credential = await navigator.credentials.get({
    publicKey: {
      rpId: options.rp_id,
      challenge: buffer(options.challenge),
      allowCredentials: options.allow_credentials.map(named),
      userVerification: "required",
      timeout: TIMEOUT_MS,
      extensions: { prf: { eval: inputs(options.prf) } },
    },
  }) as PublicKeyCredential | null;
  if (credential === null) throw cancelled();
  const response = credential.response as AuthenticatorAssertionResponse;
  const results = credential.getClientExtensionResults().prf?.results;
  const first = prfBytes(results?.first);
  const second = prfBytes(results?.second);
  if (first === null || second === null) {
    throw new CustosError(
      "no_device",
      "This passkey signed, but gave no key. Use the passkey of this device itself, and update the browser.",
    );
  }
  const touch = {
    credential_id: toBase64url(new Uint8Array(credential.rawId)),
    client_data_json: toBase64url(new Uint8Array(response.clientDataJSON)),
    authenticator_data: toBase64url(new Uint8Array(response.authenticatorData)),
    signature: toBase64url(new Uint8Array(response.signature)),
  };
  // Not enumerable: neither JSON nor a spread can carry it away by accident.
  return Object.defineProperty(touch, "prf", { value: { first, second } }) as PasskeyTouch;
}

function named(id: Uint8Array): PublicKeyCredentialDescriptor {
  return { type: "public-key", id: buffer(id), transports: ["internal"] };
}

function inputs(prf: PrfPair): { first: Bytes; second: Bytes } {
  return { first: buffer(prf.first), second: buffer(prf.second) };
}

function buffer(bytes: Uint8Array): Bytes {
  return Uint8Array.from(bytes);
}

function cancelled(): DOMException {
  return new DOMException("The passkey was not used.", "NotAllowedError");
}
