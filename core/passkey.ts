/**
 * What custos asks of a passkey, and nothing more (types only). A wrapper of `navigator.credentials` and the software
 * authenticator of the tests both implement {@link PasskeyAuthenticator}, so that all phones run one protocol code.
 *
 * An implementation must:
 * - ask for ES256 only, attestation `none`, user verification `required`, a discoverable platform credential;
 * - send both PRF inputs already at `create` (an empty `prf: {}` breaks registration on Windows Hello);
 * - name `allow_credentials` in every `get`, and refuse an empty list: no other passkey may answer;
 * - never call `toJSON()` of a credential: it holds the PRF output;
 * - let the browser's `DOMException` through by its name (`NotAllowedError`: the person cancelled, the touch can be
 *   tried again, B121; `InvalidStateError`: a passkey of `exclude_credentials` is on this device already).
 */

import type { Assertion } from "./assertion.ts";

/** The two inputs or the two outputs of the PRF extension (W3C WebAuthn L3 §10.1.4). Outputs are 32 bytes each. */
export interface PrfPair {
  first: Uint8Array;
  second: Uint8Array;
}

/** What `create` needs. */
export interface PasskeyCreate {
  /** The exact host of the page's origin. */
  rp_id: string;
  rp_name: string;
  /** 32 fresh random bytes: a `user_id` that was used before would replace the older passkey (DESIGN §6.2). */
  user_id: Uint8Array;
  user_name: string;
  challenge: Uint8Array;
  /** Credential ids of this daemon's devices, as bytes. */
  exclude_credentials: readonly Uint8Array[];
  prf: PrfPair;
}

/** A new passkey. Binary is unpadded base64url. PRF outputs of `create` are left out: they are never trusted. */
export interface PasskeyCreated {
  credential_id: string;
  client_data_json: string;
  attestation_object: string;
  /** `prf.enabled`. When it is not `true` the device cannot enrol; there is no weaker mode. */
  prf_enabled: boolean;
}

/** What `get` needs. */
export interface PasskeyGet {
  rp_id: string;
  challenge: Uint8Array;
  /** Credential ids, as bytes; at least one. */
  allow_credentials: readonly Uint8Array[];
  prf: PrfPair;
}

/** A signed touch, as it travels. */
export type PasskeyAssertion = Assertion;

/**
 * One touch: the assertion, and the PRF outputs that came with it. `prf` is a secret of this device. An implementation
 * defines it as a **non-enumerable** property, so that neither `JSON.stringify` nor spreading can send it by accident.
 */
export type PasskeyTouch = PasskeyAssertion & { readonly prf: PrfPair };

/** A passkey authenticator as the phone's protocol code sees it. */
export interface PasskeyAuthenticator {
  /** Makes a passkey, with one touch. */
  create(options: PasskeyCreate): Promise<PasskeyCreated>;
  /**
   * Signs `challenge` and evaluates the PRF, with one touch. Throws `CustosError("no_device")` when the passkey signed
   * but gave no usable PRF output.
   */
  get(options: PasskeyGet): Promise<PasskeyTouch>;
}
