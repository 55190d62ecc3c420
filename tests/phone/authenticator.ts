/**
 * The software authenticator: what a phone's browser and platform authenticator do together, behind the interface that
 * the phone's protocol code uses. Its `credentials` have the shape of `navigator.credentials`; `create` and `get` read
 * them as a page must: by hand, never through `toJSON()`, which holds the PRF output.
 *
 * It is a test device: its private keys are readable, and nobody is asked for a fingerprint.
 */

import { prfBytes } from "@custos/core/device_keys";
import { CustosError } from "@custos/core/errors";
import type {
  PasskeyAuthenticator,
  PasskeyCreate,
  PasskeyCreated,
  PasskeyGet,
  PasskeyTouch,
} from "@custos/core/passkey";
import { base64url } from "./authenticator_bytes.ts";
import { type AuthenticatorState, readState } from "./authenticator_state.ts";
import { type Misbehaviour, SoftwareCredentials } from "./authenticator_webauthn.ts";

export type { AuthenticatorState, Misbehaviour };

/** A platform authenticator on one device, as seen by the page at `origin`. */
export class SoftwareAuthenticator implements PasskeyAuthenticator {
  /** The same device in the shape of `navigator.credentials`. */
  readonly credentials: SoftwareCredentials;
  readonly #state: AuthenticatorState;

  /** `origin` is that of the page. `state` is one that {@link exportState} gave, parsed; without it the device is new. */
  constructor(origin: string, state?: unknown) {
    this.#state = state === undefined ? { v: 1, passkeys: [] } : readState(state);
    this.credentials = new SoftwareCredentials(origin, this.#state);
  }

  /** All passkeys, as JSON for a file. Write it after `create`; `get` changes nothing. */
  exportState(): AuthenticatorState {
    return structuredClone(this.#state);
  }

  /** How to be wrong from now on; replaces what was set before. */
  set misbehave(wrong: Misbehaviour) {
    this.credentials.misbehave = wrong;
  }

  /** How many `get` touches were given. */
  get touches(): number {
    return this.credentials.touches;
  }

  async create(options: PasskeyCreate): Promise<PasskeyCreated> {
    const made = await this.credentials.create({
      publicKey: {
        rp: { id: options.rp_id, name: options.rp_name },
        user: { id: options.user_id, name: options.user_name, displayName: options.user_name },
        challenge: options.challenge,
        pubKeyCredParams: [{ type: "public-key", alg: -7 }],
        excludeCredentials: options.exclude_credentials.map((id) => ({ type: "public-key", id })),
        authenticatorSelection: {
          authenticatorAttachment: "platform",
          residentKey: "required",
          userVerification: "required",
        },
        attestation: "none",
        extensions: { prf: { eval: options.prf } },
      },
    });
    return {
      credential_id: made.id,
      client_data_json: field(made.response, "clientDataJSON"),
      attestation_object: field(made.response, "attestationObject"),
      prf_enabled: made.getClientExtensionResults().prf?.enabled === true,
    };
  }

  async get(options: PasskeyGet): Promise<PasskeyTouch> {
    const signed = await this.credentials.get({
      publicKey: {
        rpId: options.rp_id,
        challenge: options.challenge,
        allowCredentials: options.allow_credentials.map((id) => ({ type: "public-key", id })),
        userVerification: "required",
        extensions: { prf: { eval: options.prf } },
      },
    });
    const results = signed.getClientExtensionResults().prf?.results;
    const first = prfBytes(results?.first);
    const second = prfBytes(results?.second);
    if (first === null || second === null) {
      throw new CustosError("no_device", "This passkey signed, but gave no key (PRF). Nothing was approved.");
    }
    const assertion = {
      credential_id: signed.id,
      client_data_json: field(signed.response, "clientDataJSON"),
      authenticator_data: field(signed.response, "authenticatorData"),
      signature: field(signed.response, "signature"),
    };
    // Not enumerable: neither JSON.stringify nor a spread can send it (see PasskeyTouch).
    return Object.defineProperty(assertion, "prf", { value: { first, second } }) as PasskeyTouch;
  }
}

function field(response: Record<string, ArrayBuffer>, name: string): string {
  return base64url(new Uint8Array(response[name]!));
}
