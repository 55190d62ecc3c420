/**
 * Bytes and their text forms. One form each: binary in JSON is base64url without padding (DESIGN §5.1), ids are
 * base32 lower case. Decoders are strict, because two spellings of one value would give one thing two names (B115).
 */

/** Bytes over a plain `ArrayBuffer`, which is what WebCrypto accepts. */
export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** UTF-8 bytes of a string. Lone surrogates become U+FFFD, so callers that hash must go through `canonicalBytes`. */
export function utf8(text: string): Bytes {
  return encoder.encode(text);
}

/** Text of UTF-8 bytes. Throws `TypeError` on anything that is not well-formed UTF-8. */
export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** One array holding the parts in order. */
export function concat(...parts: readonly Uint8Array[]): Bytes {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Whether two byte strings are equal, in time that depends on their lengths only. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}

/** Cryptographically random bytes; `length` at most 65,536 (the limit of `getRandomValues`). */
export function randomBytes(length: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** base64url without padding (RFC 4648 §5). */
export function toBase64url(bytes: Uint8Array): string {
  return toBase64(bytes).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/**
 * Bytes of unpadded base64url. Returns `null` on padding, the `+/` alphabet, other characters, an impossible length, or
 * unused bits that are not zero: each value has exactly one accepted spelling (B115).
 */
export function fromBase64url(text: string): Bytes | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return null;
  const bytes = fromBase64(text.replace(/-/g, "+").replace(/_/g, "/"));
  return bytes !== null && toBase64url(bytes) === text ? bytes : null;
}

/** Newer engines do base64 themselves, some ten times faster; older phones do not (TC39 "ArrayBuffer base64"). */
type Base64Bytes = Uint8Array & { toBase64?: () => string };
const native = Uint8Array as unknown as { fromBase64?: (text: string) => Bytes };

/** Standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  const own = (bytes as Base64Bytes).toBase64;
  if (own !== undefined) return own.call(bytes);
  let binary = "";
  const step = 0x8000; // `fromCharCode` takes its bytes as arguments, of which engines allow only so many
  for (let i = 0; i < bytes.length; i += step) {
    binary += String.fromCharCode(...bytes.subarray(i, i + step));
  }
  return btoa(binary);
}

/** Bytes of standard base64, or `null` if the text is not base64. */
export function fromBase64(text: string): Bytes | null {
  try {
    if (native.fromBase64 !== undefined) return native.fromBase64(text);
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

/** Lower-case hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Bytes of hexadecimal in either case, or `null`. */
export function fromHex(text: string): Bytes | null {
  if (!/^(?:[0-9a-fA-F]{2})*$/.test(text)) return null;
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16));
}
