/** What the software authenticator remembers, as JSON. It holds private keys: of a test device, and of nothing else. */

import { base64url, fromBase64url } from "./authenticator_bytes.ts";

/** One passkey. Binary is unpadded base64url. */
export interface StoredPasskey {
  credential_id: string;
  rp_id: string;
  user_id: string;
  user_name: string;
  /** PKCS#8 of the P-256 key. */
  private_key: string;
  /** CTAP2's CredRandomWithUV, 32 bytes: the key of this credential's PRF. */
  prf_secret: string;
}

/** All passkeys of one device. */
export interface AuthenticatorState {
  v: 1;
  passkeys: StoredPasskey[];
}

const CURVE = { name: "ECDSA", namedCurve: "P-256" } as const;

/** A new passkey and its public key as an uncompressed point. Ids have 16 to 32 bytes, as those of platforms differ. */
export async function newPasskey(
  rp_id: string,
  user_id: Uint8Array,
  user_name: string,
): Promise<{ passkey: StoredPasskey; point: Uint8Array<ArrayBuffer> }> {
  const pair = await crypto.subtle.generateKey(CURVE, true, ["sign", "verify"]);
  const size = 16 + crypto.getRandomValues(new Uint8Array(1))[0]! % 17;
  const passkey = {
    credential_id: base64url(crypto.getRandomValues(new Uint8Array(size))),
    rp_id,
    user_id: base64url(user_id),
    user_name,
    private_key: base64url(new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey))),
    prf_secret: base64url(crypto.getRandomValues(new Uint8Array(32))),
  };
  return { passkey, point: new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)) };
}

/** ES256 over `data`, as `r || s`. */
export async function sign(passkey: StoredPasskey, data: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const pkcs8 = fromBase64url(passkey.private_key);
  const key = await crypto.subtle.importKey("pkcs8", pkcs8, CURVE, false, ["sign"]);
  const raw = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, Uint8Array.from(data));
  return new Uint8Array(raw);
}

/**
 * One PRF output as W3C WebAuthn L3 §10.1.4 defines it over CTAP2's hmac-secret:
 * `HMAC-SHA256(CredRandomWithUV, SHA-256("WebAuthn PRF" || 0x00 || input))`.
 */
export async function evaluatePrf(
  passkey: StoredPasskey,
  input: Uint8Array,
): Promise<Uint8Array<ArrayBuffer>> {
  const prefix = new TextEncoder().encode("WebAuthn PRF\0");
  const salt = await crypto.subtle.digest("SHA-256", Uint8Array.from([...prefix, ...input]));
  const secret = fromBase64url(passkey.prf_secret);
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, salt));
}

/** Reads a stored state. Throws if it is not one: a test device that forgets its passkeys would look like a bug elsewhere. */
export function readState(value: unknown): AuthenticatorState {
  const state = value as AuthenticatorState | null;
  const fields = ["credential_id", "rp_id", "user_id", "user_name", "private_key", "prf_secret"] as const;
  const good = typeof state === "object" && state !== null && state.v === 1 &&
    Array.isArray(state.passkeys) &&
    state.passkeys.every((passkey) => fields.every((field) => typeof passkey?.[field] === "string"));
  if (!good) throw new Error("This file does not hold the passkeys of a software authenticator.");
  return structuredClone(state);
}
