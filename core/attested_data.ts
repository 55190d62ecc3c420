/**
 * What a passkey says at its making: a `none` attestation object and the attested credential data in it (W3C WebAuthn L3
 * §6.5.1 and §8.7). Exactly one form of each is read; everything else is `null`, because what is read here becomes a
 * device record that every later approval is checked against.
 */

import { isCredentialId } from "./assertion.ts";
import { FLAGS, isExtensionsPart, readAuthenticatorData } from "./assertion_data.ts";
import { coseToPoint } from "./assertion_es256.ts";
import { type Bytes, concat, equalBytes, toBase64url, utf8 } from "./bytes.ts";

/** A new credential, as a device record holds it. Binary is unpadded base64url but for the hash. */
export interface AttestedData {
  credential_id: string;
  /** The 77-byte COSE_Key that `coseToPoint` accepts. */
  public_key: string;
  flags: number;
  /** SHA-256 of the RP id, 32 bytes. */
  rp_id_hash: Bytes;
}

const AAGUID_BYTES = 16; // tells the model of an authenticator; `none` attestation says nothing about it
const COSE_BYTES = 77;
/** Longest authenticator data that is read, in bytes: the longest credential id and some room for extensions. */
const MAX_AUTH_DATA_BYTES = 4_096;

/**
 * The CBOR of `{"fmt": "none", "attStmt": {}, "authData": bytes}` up to the length of its bytes, in CTAP2 canonical order
 * (shorter keys first), which is what browsers send.
 */
const NONE_HEAD = concat(
  Uint8Array.of(0xa3, 0x63),
  utf8("fmt"),
  Uint8Array.of(0x64),
  utf8("none"),
  Uint8Array.of(0x67),
  utf8("attStmt"),
  Uint8Array.of(0xa0, 0x68),
  utf8("authData"),
);

/**
 * The authenticator data in an attestation object of format `none`, or `null`: for another format, a statement, another
 * order or further members, an indefinite or over-long length, or bytes left over.
 */
export function readNoneAttestation(object: Uint8Array): Bytes | null {
  if (!equalBytes(object.subarray(0, NONE_HEAD.length), NONE_HEAD)) return null;
  const at = NONE_HEAD.length;
  const width = object[at] === 0x58 ? 1 : object[at] === 0x59 ? 2 : 0;
  if (width === 0 || object.length < at + 1 + width) return null;
  const length = width === 1 ? object[at + 1]! : object[at + 1]! * 256 + object[at + 2]!;
  if (length < (width === 1 ? 24 : 256) || length > MAX_AUTH_DATA_BYTES) return null;
  const data = Uint8Array.from(object.subarray(at + 1 + width));
  return data.length === length ? data : null;
}

/**
 * The credential in authenticator data, or `null` unless it is exactly: the fixed part with the attested-credential flag,
 * an AAGUID, a credential id of 16 to 1,023 bytes, an ES256 key in its one form, and the extensions that the flags
 * announce. Presence and verification are the caller's to check (`refusedFlag`).
 */
export function readAttestedData(authData: Uint8Array): AttestedData | null {
  const data = authData.length > MAX_AUTH_DATA_BYTES ? null : readAuthenticatorData(authData);
  if (data === null || (data.flags & FLAGS.attested_credential) === 0) return null;
  const { rest, flags, rp_id_hash } = data;
  if (rest.length < AAGUID_BYTES + 2) return null;
  const idLength = rest[AAGUID_BYTES]! * 256 + rest[AAGUID_BYTES + 1]!;
  const idEnd = AAGUID_BYTES + 2 + idLength;
  const id = rest.subarray(AAGUID_BYTES + 2, idEnd);
  if (id.length !== idLength || !isCredentialId(id)) return null;
  const cose = rest.subarray(idEnd, idEnd + COSE_BYTES);
  if (coseToPoint(cose) === null || !isExtensionsPart(flags, rest.subarray(idEnd + COSE_BYTES))) return null;
  return { credential_id: toBase64url(id), public_key: toBase64url(cose), flags, rp_id_hash };
}
