/**
 * Three words that a person compares between the computer and the phone. They are keyed: whoever lacks `K_words` (relay
 * and agent both do) can neither compute nor grind them (DESIGN §5.2, ADR 0006).
 */

import words from "./eff_large_wordlist.txt" with { type: "text" };
import { concat, utf8 } from "./bytes.ts";
import { LABELS } from "./labels.ts";
import { pattern, type Schema } from "./schema.ts";

/** The EFF large word list (7,776 words, CC BY 3.0 US), in its order. */
export const WORD_LIST: readonly string[] = words.trim().split("\n");

/** Length of `K_words`, in bytes. */
export const WORDS_KEY_BYTES = 32;

/** The shape of a fingerprint in documents and results. */
export const FINGERPRINT_PATTERN: RegExp = /^[a-z-]+ [a-z-]+ [a-z-]+$/;
/** {@link FINGERPRINT_PATTERN} as a schema. */
export const fingerprintSchema: Schema<string> = pattern(FINGERPRINT_PATTERN);

/**
 * The first 8 bytes, big-endian, modulo 7776³, as three words, most significant first. `bytes` needs at least 8.
 * 2⁶⁴ is about 39 million times 7776³, so the bias of the modulo is below 2⁻²⁵.
 */
export function toWords(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const base = BigInt(WORD_LIST.length);
  let rest = view.getBigUint64(0) % base ** 3n;
  const out: string[] = [];
  for (let i = 0; i < 3; i++) {
    out.unshift(WORD_LIST[Number(rest % base)]!);
    rest /= base;
  }
  return out.join(" ");
}

/** The words of a request: `HMAC-SHA256(K_words, "custos/words/v1" || 0x00 || request_hash)` through {@link toWords}. */
export async function fingerprintOf(wordsKey: Uint8Array, requestHash: Uint8Array): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", Uint8Array.from(wordsKey), algorithm, false, ["sign"]);
  const input = concat(utf8(LABELS.words), Uint8Array.of(0), requestHash);
  return toWords(new Uint8Array(await crypto.subtle.sign("HMAC", key, input)));
}

/**
 * Whether two fingerprints share two or more positions. People pass near misses (6 to 72 % in a study of 661 people, ADR 0006), so the daemon draws
 * a new nonce until no request that is pending, or of the last 24 hours, is this near.
 */
export function isNear(a: string, b: string): boolean {
  const left = a.split(" ");
  const right = b.split(" ");
  return left.filter((word, position) => word === right[position]).length >= 2;
}
