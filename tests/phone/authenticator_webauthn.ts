/**
 * A browser and its platform authenticator in one, in the shape of `navigator.credentials`: real client data, real
 * authenticator data, real ES256 signatures, and the PRF extension. It enforces what browsers enforce, and misbehaves
 * only as told, so that a test can show that somebody else notices.
 */

import type { CBORType } from "@levischuck/tiny-cbor";
import {
  AT,
  attestationObject,
  attestedCredential,
  authenticatorData,
  base64url,
  BE,
  BS,
  cbor,
  clientDataJson,
  coseKey,
  ED,
  fromBase64url,
  join,
  sha256,
  signatureDer,
  UP,
  UV,
} from "./authenticator_bytes.ts";
import { type AuthenticatorState, newPasskey, sign, type StoredPasskey } from "./authenticator_state.ts";
import {
  checkPrfRequest,
  prfOutputs,
  type PrfRequest,
  type PrfResults,
  prfSelection,
} from "./authenticator_prf.ts";

/** Ways to be wrong, all off by default. */
export interface Misbehaviour {
  /** The person closes the dialog: `NotAllowedError`. */
  cancel?: boolean;
  /** Leave a flag out. */
  no_up?: boolean;
  no_uv?: boolean;
  /** Set "may be backed up" and "is backed up", as synced passkeys do. Not wrong. */
  synced?: boolean;
  /** Set "is backed up" alone, which contradicts itself. */
  only_backed_up?: boolean;
  /** Set more bits of the flags. */
  set_flags?: number;
  /** Be in a frame. */
  cross_origin?: boolean;
  top_origin?: string;
  /** Claim another page, RP, challenge or ceremony. */
  origin?: string;
  rp_id?: string;
  challenge?: Uint8Array;
  type?: string;
  /** Add a member to client data, as JSON text. Not wrong in itself. */
  more_client_data?: string;
  /** Answer with a passkey that was not asked for. */
  answer_with?: string;
  /** Be without PRF; give one value twice; give it in another form; give another value at the nth `get` (from 1). */
  no_prf?: boolean;
  prf_twice?: boolean;
  prf_form?: "bytes" | "numbers";
  change_prf_on_touch?: number;
  /** Send CTAP's encrypted hmac-secret answer in authenticator data, as authenticators behind CTAP do. Not wrong. */
  ctap_extension?: boolean;
  sign_count?: number;
  /** Attest, though nobody asked: "packed" self attestation with a valid signature. */
  attest?: boolean;
  /** Append to authenticator data before signing. */
  extra_bytes?: Uint8Array;
}

/** The part of `PublicKeyCredentialCreationOptions` that is read. */
export interface CreationOptions {
  rp: { id: string; name: string };
  user: { id: Uint8Array; name: string; displayName: string };
  challenge: Uint8Array;
  pubKeyCredParams: { type: string; alg: number }[];
  excludeCredentials?: { type: string; id: Uint8Array }[];
  authenticatorSelection?: {
    userVerification?: string;
    residentKey?: string;
    authenticatorAttachment?: string;
  };
  attestation?: string;
  extensions?: { prf?: PrfRequest };
}

/** The part of `PublicKeyCredentialRequestOptions` that is read. */
export interface RequestOptions {
  rpId: string;
  challenge: Uint8Array;
  allowCredentials: { type: string; id: Uint8Array }[];
  userVerification?: string;
  extensions?: { prf?: PrfRequest };
}

/** The part of `PublicKeyCredential` that is given. */
export interface Credential {
  id: string;
  rawId: ArrayBuffer;
  type: "public-key";
  authenticatorAttachment: "platform";
  response: Record<string, ArrayBuffer>;
  getClientExtensionResults(): { prf?: PrfResults };
  /** As in browsers, this holds the PRF output. Nothing may call it. */
  toJSON(): unknown;
}

/** `navigator.credentials` of one page on one device. */
export class SoftwareCredentials {
  misbehave: Misbehaviour = {};
  /** How many `get` touches were given. */
  touches = 0;
  readonly #origin: URL;
  readonly #state: AuthenticatorState;

  /** `origin` is the page's; `state` is kept up to date in place. */
  constructor(origin: string, state: AuthenticatorState) {
    this.#origin = new URL(origin);
    this.#state = state;
  }

  async create({ publicKey: o }: { publicKey: CreationOptions }): Promise<Credential> {
    const wrong = this.misbehave;
    this.#checkRpId(o.rp.id);
    if (o.user.id.length < 1 || o.user.id.length > 64) throw new TypeError("user.id must have 1 to 64 bytes");
    if (!o.pubKeyCredParams.some((p) => p.type === "public-key" && p.alg === -7)) {
      throw new DOMException("Only ES256 is supported.", "NotSupportedError");
    }
    checkPrfRequest(o.extensions?.prf, null);
    if (wrong.cancel) throw new DOMException("The person cancelled.", "NotAllowedError");
    for (const { id } of o.excludeCredentials ?? []) {
      if (this.#find(o.rp.id, base64url(id)) !== undefined) {
        throw new DOMException("A passkey of this site is on this device already.", "InvalidStateError");
      }
    }

    const { passkey, point } = await newPasskey(o.rp.id, o.user.id, o.user.name);
    // As real authenticators do (CTAP2 authenticatorMakeCredential): the same account has one passkey, the newest.
    const others = this.#state.passkeys.filter((p) => p.rp_id !== o.rp.id || p.user_id !== passkey.user_id);
    this.#state.passkeys = [...others, passkey];

    const prf = o.extensions?.prf !== undefined && !wrong.no_prf;
    const id = fromBase64url(passkey.credential_id);
    const rest = [attestedCredential(id, coseKey(point))];
    if (prf) rest.push(cbor(new Map<string, CBORType>([["hmac-secret", true]])));
    const data = await this.#data(o.rp.id, AT | (prf ? ED : 0), rest);
    const client = this.#client("webauthn.create", o.challenge);
    const statement = new Map<string, CBORType>();
    if (wrong.attest) {
      const signature = await sign(passkey, join(data, await sha256(client)));
      statement.set("alg", -7).set("sig", signatureDer(signature));
    }
    const results: PrfResults | undefined = o.extensions?.prf === undefined
      ? undefined
      : { enabled: prf, ...(prf ? await prfOutputs(passkey, o.extensions.prf.eval, wrong, false) : {}) };
    return credential(passkey, results, {
      clientDataJSON: client,
      attestationObject: attestationObject(wrong.attest ? "packed" : "none", statement, data),
    });
  }

  async get({ publicKey: o }: { publicKey: RequestOptions }): Promise<Credential> {
    const wrong = this.misbehave;
    this.#checkRpId(o.rpId);
    const allowed = o.allowCredentials.map(({ id }) => base64url(id));
    if (allowed.length === 0) {
      throw new DOMException("This device answers only for named passkeys.", "NotSupportedError");
    }
    checkPrfRequest(o.extensions?.prf, allowed);
    const passkey = this.#state.passkeys.find((p) =>
      p.rp_id === o.rpId && (wrong.answer_with ?? allowed).includes(p.credential_id)
    );
    if (passkey === undefined || wrong.cancel) {
      throw new DOMException("The person cancelled, or no passkey fits.", "NotAllowedError");
    }

    this.touches++;
    const selected = prfSelection(o.extensions?.prf, passkey.credential_id);
    const changed = wrong.change_prf_on_touch === this.touches;
    const results = selected === undefined || wrong.no_prf
      ? undefined
      : await prfOutputs(passkey, selected, wrong, changed);
    const rest = [];
    // What CTAP sends is encrypted to the browser; random bytes of the right length stand for it.
    if (wrong.ctap_extension) {
      const sealed = crypto.getRandomValues(new Uint8Array(80));
      rest.push(cbor(new Map<string, CBORType>([["hmac-secret", sealed]])));
    }
    const data = await this.#data(o.rpId, wrong.ctap_extension ? ED : 0, rest);
    const client = this.#client("webauthn.get", o.challenge);
    const signature = signatureDer(await sign(passkey, join(data, await sha256(client))));
    return credential(passkey, results, { clientDataJSON: client, authenticatorData: data, signature });
  }

  #find(rp_id: string, credential_id: string): StoredPasskey | undefined {
    return this.#state.passkeys.find((p) => p.rp_id === rp_id && p.credential_id === credential_id);
  }

  /** L3 §5.1.3 step 8: the RP id is the page's host or a parent domain of it. */
  #checkRpId(rp_id: string): void {
    const host = this.#origin.hostname;
    if (host !== rp_id && !host.endsWith(`.${rp_id}`)) {
      throw new DOMException("The RP id is not of this page.", "SecurityError");
    }
  }

  #client(type: string, challenge: Uint8Array): Uint8Array<ArrayBuffer> {
    const wrong = this.misbehave;
    return clientDataJson({
      type: wrong.type ?? type,
      challenge: wrong.challenge ?? challenge,
      origin: wrong.origin ?? this.#origin.origin,
      cross_origin: wrong.cross_origin ?? false,
      top_origin: wrong.top_origin,
      more: wrong.more_client_data,
    });
  }

  #data(rp_id: string, more: number, rest: Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
    const wrong = this.misbehave;
    let flags = more | (wrong.no_up ? 0 : UP) | (wrong.no_uv ? 0 : UV);
    if (wrong.synced) flags |= BE | BS;
    if (wrong.only_backed_up) flags |= BS;
    flags |= wrong.set_flags ?? 0;
    const extra = wrong.extra_bytes ?? new Uint8Array(0);
    return authenticatorData(wrong.rp_id ?? rp_id, flags, wrong.sign_count ?? 0, ...rest, extra);
  }
}

function credential(
  passkey: StoredPasskey,
  prf: PrfResults | undefined,
  response: Record<string, Uint8Array<ArrayBuffer>>,
): Credential {
  const results = prf === undefined ? {} : { prf };
  const raw = fromBase64url(passkey.credential_id);
  return {
    id: passkey.credential_id,
    rawId: raw.buffer,
    type: "public-key",
    authenticatorAttachment: "platform",
    response: Object.fromEntries(Object.entries(response).map(([name, bytes]) => [name, bytes.buffer])),
    getClientExtensionResults: () => results,
    toJSON: () => ({ id: passkey.credential_id, type: "public-key", clientExtensionResults: results }),
  };
}
