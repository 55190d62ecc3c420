/**
 * Verification of one passkey signature, as the steps of W3C WebAuthn L3 §7.2. Phone and daemon run this code over
 * policy-log entries and approvals. The daemon adds a second opinion in `daemon/webauthn_check.ts`.
 *
 * Nothing here can approve: the caller must have computed `challenge` itself, looked the device up by credential id in
 * the verified policy log, and must consume the request once (B120).
 */

import { type ClientDataStep, readClientData } from "./assertion_client_data.ts";
import { isAssertionTail, readAuthenticatorData, refusedFlag } from "./assertion_data.ts";
import { coseToPoint, derToRaw, verifyEs256 } from "./assertion_es256.ts";
import { type Bytes, concat, equalBytes, fromBase64url, utf8 } from "./bytes.ts";
import { sha256 } from "./labels.ts";

/** An assertion as it travels: unpadded base64url, and no client extension results (they hold the PRF output). */
export interface Assertion {
  credential_id: string;
  client_data_json: string;
  authenticator_data: string;
  /** ASN.1 DER `ECDSA-Sig-Value`, as authenticators send it. */
  signature: string;
}

/** What must be known of a device to verify its signatures. */
export interface AssertionDevice {
  /** Unpadded base64url of the raw id, 16 to 1,023 bytes. */
  credential_id: string;
  /** Unpadded base64url of the 77-byte COSE_Key of an ES256 key; see `coseToPoint` for the one accepted form. */
  public_key: string;
  /** The exact host of `origin`. */
  rp_id: string;
  /** The one accepted origin, compared as a string: `https://host[:port]` in canonical form (B116). */
  origin: string;
}

/** The step at which an assertion was refused. A step names no value, so it can be shown and logged. */
export type AssertionStep =
  | ClientDataStep
  | "encoding"
  | "credential"
  | "authenticator_data"
  | "rp_id"
  | "user_presence"
  | "user_verification"
  | "backup_flags"
  | "extra_bytes"
  | "public_key"
  | "signature_form"
  | "signature";

/** The outcome; refusal comes first. `sign_count` is what the authenticator sent, 0 for synced passkeys (B117). */
export type AssertionResult = { ok: false; step: AssertionStep } | { ok: true; sign_count: number };

const MAX_FIELD_BYTES = 8192; // a platform passkey sends some hundred; bounds the work for hostile input
const MIN_CREDENTIAL_BYTES = 16; // L3 §6.1: at least 100 bits of entropy, "at least 16 bytes"
const MAX_CREDENTIAL_BYTES = 1023; // L3 §7.1 step 25

/**
 * Whether `assertion` is a signature of `device` over `challenge` (32 bytes), made on `device.origin` with the person
 * present and verified. Never throws.
 *
 * ```ts
 * import { verifyAssertion } from "@custos/core/assertion";
 * const empty = { credential_id: "", client_data_json: "", authenticator_data: "", signature: "" };
 * const device = { credential_id: "", public_key: "", rp_id: "phone.example", origin: "https://phone.example" };
 * const result = await verifyAssertion(empty, device, new Uint8Array(32));
 * if (result.ok) throw new Error("an empty assertion was accepted");
 * ```
 */
export async function verifyAssertion(
  assertion: Assertion,
  device: AssertionDevice,
  challenge: Uint8Array,
): Promise<AssertionResult> {
  try {
    return await steps(assertion, device, challenge);
  } catch {
    // An engine that throws on an odd key or a caller that passed no object: both are refusals.
    return refuse("encoding");
  }
}

async function steps(
  assertion: Assertion,
  device: AssertionDevice,
  challenge: Uint8Array,
): Promise<AssertionResult> {
  // B115: one spelling of each value. Padding and the `+/` alphabet are refused here, and never become "unknown".
  const id = decodeField(assertion.credential_id);
  const clientData = decodeField(assertion.client_data_json);
  const authData = decodeField(assertion.authenticator_data);
  const signature = decodeField(assertion.signature);
  if (id === null || clientData === null || authData === null || signature === null) {
    return refuse("encoding");
  }

  // Steps 5 and 6: the credential is the one of this device. SimpleWebAuthn leaves this comparison to its caller.
  const known = decodeField(device.credential_id);
  if (known === null || !isCredentialId(known) || !equalBytes(id, known)) return refuse("credential");

  // Steps 7 to 14: client data.
  const clientStep = readClientData(clientData, { type: "webauthn.get", challenge, origin: device.origin });
  if (clientStep !== null) return refuse(clientStep);

  // Step 15: RP id, exact. The hash of a parent domain is another hash.
  const data = readAuthenticatorData(authData);
  if (data === null) return refuse("authenticator_data");
  if (device.rp_id === "" || !equalBytes(data.rp_id_hash, await sha256(utf8(device.rp_id)))) {
    return refuse("rp_id");
  }

  // Steps 16 to 18: flags. The PRF needs user verification, and so does every approval.
  const flag = refusedFlag(data.flags);
  if (flag !== null) return refuse(flag);
  if (!isAssertionTail(data)) return refuse("extra_bytes");

  // Steps 20 and 21: the signature over authenticatorData || SHA-256(clientDataJSON).
  const key = decodeField(device.public_key);
  const point = key === null ? null : coseToPoint(key);
  if (point === null) return refuse("public_key");
  const raw = derToRaw(signature);
  if (raw === null) return refuse("signature_form");
  const signed = concat(authData, await sha256(clientData));
  if (!await verifyEs256(point, raw, signed)) return refuse("signature");

  // Step 22 (counters) needs a store, so it is the caller's: `daemon/webauthn_check.ts`.
  return { ok: true, sign_count: data.sign_count };
}

/** Whether bytes can be a credential id: 16 to 1,023 of them. */
export function isCredentialId(bytes: Uint8Array): boolean {
  return bytes.length >= MIN_CREDENTIAL_BYTES && bytes.length <= MAX_CREDENTIAL_BYTES;
}

/** Bytes of one base64url field of a WebAuthn response, or `null` if it is no string, empty, too long or misspelt. */
export function decodeField(text: unknown): Bytes | null {
  if (typeof text !== "string" || text === "" || text.length > Math.ceil(MAX_FIELD_BYTES * 4 / 3)) {
    return null;
  }
  return fromBase64url(text);
}

function refuse(step: AssertionStep): AssertionResult {
  return { ok: false, step };
}
