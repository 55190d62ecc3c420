/** Ids: 16 random bytes as 26 characters of lower-case base32 without padding (DESIGN §5.1). */

import { randomBytes } from "./bytes.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const ID = /^[a-z2-7]{25}[aeimquy4]$/; // 128 bits fill 25 characters and 3 bits of the last, so it is one of eight

/** Lower-case base32 (RFC 4648 §6 alphabet) without padding. */
export function toBase32(bytes: Uint8Array): string {
  let out = "";
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8 | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      out += ALPHABET[buffer >> bits & 31];
    }
  }
  if (bits > 0) out += ALPHABET[buffer << (5 - bits) & 31];
  return out;
}

/** A fresh id. */
export function newId(): string {
  return toBase32(randomBytes(16));
}

/** Whether `text` is an id in its one accepted spelling. */
export function isId(text: string): boolean {
  return ID.test(text);
}
