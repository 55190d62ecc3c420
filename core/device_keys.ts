/**
 * The keys that open secrets: a device's, derived from two PRF outputs of its passkey, and the recovery sheet's, derived
 * from its seed (DESIGN §6.2). Both end in a hybrid (ML-KEM-768 + X25519) age identity. Nothing derived here is stored:
 * a device derives again at each touch, and compares the recipient with the policy log.
 *
 * All derivations are {@link deriveKey}: HKDF-SHA256 (RFC 5869), empty salt (32 zero bytes), info = label || 0x00, 32
 * bytes out. The key material is uniformly random already, so a salt would add nothing.
 *
 *     device age seed     HKDF(first || second, "custos/device-seed/v1")
 *     recovery age seed   HKDF(sheet seed,      "custos/recovery-age/v1")
 *     recovery Ed25519    HKDF(sheet seed,      "custos/recovery-sign/v1")
 */

import { bech32 } from "@scure/base";
import { identityToRecipient } from "age-encryption";
import { type Bytes, concat, equalBytes, fromBase64url, utf8 } from "./bytes.ts";
import { canonicalBytes } from "./canonical.ts";
import { CustosError } from "./errors.ts";
import { deriveKey, type Label, labelledHash } from "./labels.ts";
import type { PrfPair } from "./passkey.ts";
import { Secret } from "./secret.ts";

/** An age identity and its public half. */
export interface AgeKeys {
  /** UTF-8 of `AGE-SECRET-KEY-PQ-1…`. The stock `age` tool (≥ 1.3.1) reads it too. */
  identity: Secret;
  /** `age1pq1…`. */
  recipient: string;
}

/** What a recovery sheet can do: open every secret, and sign policy-log entries. */
export interface RecoveryKeys extends AgeKeys {
  /** Raw Ed25519 public key, 32 bytes as unpadded base64url. */
  sign_public: string;
  /** Ed25519 signature of `bytes`, 64 bytes. */
  sign(bytes: Uint8Array): Promise<Bytes>;
}

/** Length of a PRF output, of an age seed and of a recovery seed, in bytes. */
export const SEED_BYTES = 32;

const NO_SALT = new Uint8Array(0);
const NO_CONTEXT = new Uint8Array(0);
/** RFC 8410 §7: the DER of a PKCS#8 Ed25519 key up to its 32 bytes. WebCrypto imports no private key in raw form. */
const PKCS8_HEAD = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20);

/**
 * The PRF inputs of one daemon and epoch: `H("custos/prf/v1", JCS{daemon, epoch, half})` for half 1 and 2, 32 bytes each.
 * A new epoch gives new outputs, and so a new identity, from the same passkey.
 */
export async function prfInputs(daemon: string, epoch: string): Promise<PrfPair> {
  const half = (half: 1 | 2) => labelledHash("prf", canonicalBytes({ daemon, epoch, half }));
  return { first: await half(1), second: await half(2) };
}

/**
 * The device's keys from the two PRF outputs of one touch. Takes what providers return: a `Uint8Array` or another view,
 * an `ArrayBuffer`, or a plain array of numbers. Throws `no_device` unless there are two different outputs of 32 bytes:
 * a provider that ignores its input, or returns still-encrypted bytes of another length, must never become a key.
 */
export async function deriveDeviceKeys(prf: { first: unknown; second: unknown }): Promise<AgeKeys> {
  const first = prfBytes(prf.first);
  const second = prfBytes(prf.second);
  if (first === null || second === null || equalBytes(first, second)) {
    throw new CustosError(
      "no_device",
      "This passkey did not give the two keys that custos needs, so nothing was opened. Use the passkey of this " +
        "device itself, not one of another phone or of a security key, and update the browser.",
    );
  }
  return await ageKeys("device_seed", concat(first, second));
}

/** 32 bytes of a PRF output in any form that a provider gives, or `null`. */
export function prfBytes(output: unknown): Bytes | null {
  let bytes: Bytes;
  if (output instanceof ArrayBuffer) bytes = new Uint8Array(output.slice(0));
  else if (ArrayBuffer.isView(output)) {
    bytes = Uint8Array.from(new Uint8Array(output.buffer, output.byteOffset, output.byteLength));
  } else if (Array.isArray(output) && output.every(isByte)) bytes = Uint8Array.from(output);
  else return null;
  return bytes.length === SEED_BYTES ? bytes : null;
}

function isByte(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 255;
}

/**
 * Stops when a passkey derived another recipient than the policy log has for this device. It never enrols again by
 * itself: a changed PRF (a provider's bug, a passkey replaced) must be seen by a person. Throws `no_device`.
 */
export function requireRecipient(derived: string, listed: string): void {
  if (derived === listed) return;
  throw new CustosError(
    "no_device",
    "This passkey gave a different key. Nothing was approved. Try again, or use the recovery sheet.",
  );
}

/** The keys of a recovery sheet. `seed` is 32 bytes; anything else throws `bad_request`. */
export async function deriveRecoveryKeys(seed: Secret): Promise<RecoveryKeys> {
  if (seed.length !== SEED_BYTES) {
    throw new CustosError("bad_request", "A recovery seed has 32 bytes. This one was not used.");
  }
  const copy = seed.expose((bytes) => Uint8Array.from(bytes));
  const keys = await ageKeys("recovery_age", copy.slice());
  const signSeed = await deriveKey("recovery_sign", copy, NO_SALT, NO_CONTEXT, SEED_BYTES);
  const pkcs8 = concat(PKCS8_HEAD, signSeed);
  // The public half can only be read from an extractable key; what signs afterwards is not extractable.
  const readable = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
  const { x } = await crypto.subtle.exportKey("jwk", readable);
  const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"]);
  for (const bytes of [copy, signSeed, pkcs8]) bytes.fill(0);
  if (x === undefined || fromBase64url(x)?.length !== 32) {
    throw new CustosError("internal", "This engine gave no Ed25519 public key for the recovery sheet.");
  }
  return {
    ...keys,
    sign_public: x,
    sign: async (bytes) => new Uint8Array(await crypto.subtle.sign("Ed25519", key, Uint8Array.from(bytes))),
  };
}

/**
 * Whether `signature` (64 bytes) is by the recovery key `sign_public` (unpadded base64url) over `bytes`. Never throws;
 * everything that cannot be read is `false`.
 */
export async function verifyRecoverySignature(
  sign_public: string,
  bytes: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const raw = fromBase64url(sign_public);
  if (raw === null) return false;
  try {
    const key = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
    return await crypto.subtle.verify("Ed25519", key, Uint8Array.from(signature), Uint8Array.from(bytes));
  } catch {
    return false;
  }
}

/** Derives an age identity, and overwrites `material`. */
async function ageKeys(label: Label, material: Bytes): Promise<AgeKeys> {
  const seed = await deriveKey(label, material, NO_SALT, NO_CONTEXT, SEED_BYTES);
  material.fill(0);
  // `HybridIdentity` is not exported by age-encryption; this is its documented text form (C2SP age, "PQ" identities).
  const identity = bech32.encodeFromBytes("AGE-SECRET-KEY-PQ-", seed).toUpperCase();
  seed.fill(0);
  return { identity: new Secret(utf8(identity)), recipient: await identityToRecipient(identity) };
}
