/**
 * A new session at each start of the daemon (DESIGN §7). The daemon offers a fresh hybrid recipient, the phone answers
 * with 32 fresh bytes sealed to it; traffic keys and the next stored key come from the old key and the fresh bytes. A
 * thief of the stored key can pose once, and the next start of the true daemon shows it.
 */

import { type Bytes, concat, fromBase64url, toBase64url, toHex, utf8 } from "./bytes.ts";
import { canonicalBytes, parseCanonical } from "./canonical.ts";
import { isHybridRecipient } from "./custody.ts";
import { LABELS } from "./labels.ts";
import { base64urlUpTo, decode, exactly, list, pattern, type Schema, shape } from "./schema.ts";
import * as z from "zod/mini";

/** What an offer says. */
export interface Offer {
  v: 1;
  recipient: string;
  /** Session ids (hexadecimal) that this daemon offered before in this generation; the {@link MAX_EARLIER} newest. */
  earlier: string[];
}

/** Most ids in an offer. With them it still fits 16 KiB. */
export const MAX_EARLIER = 256;

/** What an acceptance says: an age file that holds the phone's 32 fresh bytes. */
export interface Accept {
  v: 1;
  sealed: string;
}

/** Keys of a session, as bytes to import or keep. Each 32 bytes. */
export interface SessionSecrets {
  to_phone: Bytes;
  to_daemon: Bytes;
  next_root: Bytes;
}

const offerSchema: Schema<Offer> = shape<Offer>({
  v: exactly(1),
  recipient: z.string().check(z.refine(isHybridRecipient)) as Schema<string>,
  earlier: list(pattern(/^[0-9a-f]{32}$/), MAX_EARLIER),
});
const acceptSchema: Schema<Accept> = shape<Accept>({ v: exactly(1), sealed: base64urlUpTo(8_192) });

/** The plaintext of an offer. */
export function encodeOffer(recipient: string, earlier: readonly string[]): Bytes {
  return canonicalBytes({ v: 1, recipient, earlier: [...earlier] } satisfies Offer);
}

/** The plaintext of an acceptance. */
export function encodeAccept(sealed: Uint8Array): Bytes {
  return canonicalBytes({ v: 1, sealed: toBase64url(sealed) } satisfies Accept);
}

/** Reads an opened offer. Throws `bad_request`. */
export function readOffer(plaintext: Uint8Array): Offer {
  return decode(offerSchema, parseCanonical(plaintext), "session offer");
}

/** The age file in an opened acceptance. Throws `bad_request`. */
export function readAccept(plaintext: Uint8Array): Bytes {
  return fromBase64url(decode(acceptSchema, parseCanonical(plaintext), "session acceptance").sealed)!;
}

/** Imports a root key. It can derive, and can never be read again. */
export async function rootKey(bytes: Bytes): Promise<CryptoKey> {
  return await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveBits"]);
}

/** The 32 bytes that authenticate handshakes of this root's generation. They reveal nothing about traffic. */
export async function handshakeSecret(root: CryptoKey): Promise<Bytes> {
  return await derive(root, new Uint8Array(0), LABELS.handshake, new Uint8Array(0));
}

/**
 * Session keys: `HKDF(IKM = old root, salt = fresh, info = label || 0x00 || offer frame || accept frame)`. The design
 * writes `HKDF(old || fresh)`; with the fresh bytes as salt the old root never has to be extractable, and HMAC keeps both
 * inputs as strong (RFC 5869 §3.1). `transcript` is what both sides saw, byte for byte.
 */
export async function sessionSecrets(
  root: CryptoKey,
  fresh: Bytes,
  transcript: Bytes,
): Promise<SessionSecrets> {
  return {
    to_phone: await derive(root, fresh, LABELS.traffic, concat(utf8("to_phone"), transcript)),
    to_daemon: await derive(root, fresh, LABELS.traffic, concat(utf8("to_daemon"), transcript)),
    next_root: await derive(root, fresh, LABELS.next_root, transcript),
  };
}

/**
 * The session that pairing itself makes, of generation 0: no handshake, fresh bytes and transcript are both the pairing's
 * transcript T, its id is the first 16 bytes of T. Its `next_root` is not used: the root stays generation 0.
 */
export async function pairingSecrets(
  root: CryptoKey,
  transcript: Bytes,
): Promise<{ id: string; secrets: SessionSecrets }> {
  return {
    id: toHex(transcript.subarray(0, 16)),
    secrets: await sessionSecrets(root, transcript, transcript),
  };
}

async function derive(root: CryptoKey, salt: Bytes, label: string, context: Bytes): Promise<Bytes> {
  const info = concat(utf8(label), Uint8Array.of(0), context);
  const bits = await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, root, 256);
  return new Uint8Array(bits);
}
