/** Authenticator data: the binary structure that a passkey signs (W3C WebAuthn L3 §6.1). */

import type { Bytes } from "./bytes.ts";

/** The bits of the flags byte. */
export const FLAGS = {
  user_present: 0x01,
  user_verified: 0x04,
  backup_eligible: 0x08,
  backed_up: 0x10,
  attested_credential: 0x40,
  extensions: 0x80,
} as const;

/** The fixed part, and what follows it. */
export interface AuthenticatorData {
  /** SHA-256 of the RP id, 32 bytes. */
  rp_id_hash: Bytes;
  flags: number;
  sign_count: number;
  /** Everything after the first 37 bytes: attested credential data and extensions. */
  rest: Bytes;
}

const FIXED_BYTES = 37;
const MAX_NESTING = 4; // CTAP2 canonical CBOR: at most four levels

/** The parts of authenticator data, or `null` if it is shorter than 37 bytes. Checks nothing else. */
export function readAuthenticatorData(bytes: Uint8Array): AuthenticatorData | null {
  if (bytes.length < FIXED_BYTES) return null;
  const copy = Uint8Array.from(bytes);
  return {
    rp_id_hash: copy.slice(0, 32),
    flags: copy[32]!,
    sign_count: new DataView(copy.buffer).getUint32(33),
    rest: copy.slice(FIXED_BYTES),
  };
}

/**
 * The first flag that custos refuses, or `null`. User presence and user verification must be set (L3 §7.2 steps 16 and
 * 17); "backed up" without "may be backed up" contradicts itself (step 18).
 */
export function refusedFlag(flags: number): "user_presence" | "user_verification" | "backup_flags" | null {
  if ((flags & FLAGS.user_present) === 0) return "user_presence";
  if ((flags & FLAGS.user_verified) === 0) return "user_verification";
  if ((flags & FLAGS.backed_up) !== 0 && (flags & FLAGS.backup_eligible) === 0) return "backup_flags";
  return null;
}

/**
 * Whether what follows the fixed part is right for an assertion: nothing, or, with the extension flag, exactly one CBOR
 * map (an authenticator behind CTAP puts its encrypted hmac-secret answer there). An assertion has no attested
 * credential data.
 */
export function isAssertionTail(data: AuthenticatorData): boolean {
  if ((data.flags & FLAGS.attested_credential) !== 0) return false;
  return isExtensionsPart(data.flags, data.rest);
}

/** Whether `bytes` are the extensions that `flags` announce: nothing, or exactly one CBOR map. */
export function isExtensionsPart(flags: number, bytes: Uint8Array): boolean {
  if ((flags & FLAGS.extensions) === 0) return bytes.length === 0;
  return bytes.length > 0 && bytes[0]! >> 5 === 5 && skipItem(bytes, 0, MAX_NESTING) === bytes.length;
}

/** The place after the CBOR item at `at`, or -1. Definite lengths only, no tags, no floats (CTAP2 canonical form). */
function skipItem(bytes: Uint8Array, at: number, depth: number): number {
  const head = bytes[at];
  if (head === undefined || depth < 0) return -1;
  const major = head >> 5;
  const size = head & 31;
  if (major === 6 || (major === 7 && size > 24)) return -1;
  const width = size < 24 ? 0 : size === 24 ? 1 : size === 25 ? 2 : size === 26 ? 4 : -1;
  if (width < 0 || at + 1 + width > bytes.length) return -1;
  let value = size < 24 ? size : 0;
  for (let i = 0; i < width; i++) value = value * 256 + bytes[at + 1 + i]!;
  let next = at + 1 + width;
  if (major === 2 || major === 3) return next + value; // past the end is no end of the input either
  const items = major === 4 ? value : major === 5 ? 2 * value : 0;
  // Each item takes at least one byte, so the loop ends with the input, whatever count it claims.
  for (let i = 0; i < items && next >= 0; i++) next = skipItem(bytes, next, depth - 1);
  return next;
}
