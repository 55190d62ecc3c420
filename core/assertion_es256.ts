/**
 * ES256 (ECDSA on P-256 with SHA-256) in the forms that WebAuthn uses: COSE keys and DER signatures. Each value has one
 * accepted form, so a signature or a key cannot be re-spelt by whoever carries it.
 */

import { type Bytes, concat } from "./bytes.ts";

const COORDINATE = 32;
/** `{1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: bytes(32)` up to x; RFC 9053 §7.1.1, CTAP2 canonical order. */
const COSE_HEAD = Uint8Array.of(0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20);
/** `-3: bytes(32)`, between x and y. */
const COSE_MIDDLE = Uint8Array.of(0x22, 0x58, 0x20);
const COSE_BYTES = COSE_HEAD.length + COORDINATE + COSE_MIDDLE.length + COORDINATE;

const P = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n; // FIPS 186-5, P-256
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/** The 77-byte COSE_Key of an uncompressed point (65 bytes, `04 || x || y`). */
export function pointToCose(point: Uint8Array): Bytes {
  return concat(COSE_HEAD, point.subarray(1, 33), COSE_MIDDLE, point.subarray(33, 65));
}

/**
 * The uncompressed point of a COSE_Key, or `null`. Accepted is exactly the 77-byte canonical form with the members kty
 * EC2, alg ES256, crv P-256, x, y and a point on the curve. Every other algorithm, order or extra member is refused:
 * the algorithm is pinned here, not taken from the key.
 */
export function coseToPoint(cose: Uint8Array): Bytes | null {
  if (cose.length !== COSE_BYTES) return null;
  const y = COSE_HEAD.length + COORDINATE + COSE_MIDDLE.length;
  const point = concat(
    Uint8Array.of(4),
    cose.subarray(COSE_HEAD.length, COSE_HEAD.length + COORDINATE),
    cose.subarray(y, y + COORDINATE),
  );
  const again = pointToCose(point);
  if (!again.every((byte, i) => byte === cose[i])) return null;
  return isOnCurve(point) ? point : null;
}

/** The engines differ in when they refuse a point off the curve (some only at `verify`), so it is checked here. */
function isOnCurve(point: Uint8Array): boolean {
  const x = toInteger(point.subarray(1, 33));
  const y = toInteger(point.subarray(33, 65));
  if (x >= P || y >= P) return false;
  return (y * y - (x * x * x - 3n * x + B)) % P === 0n;
}

function toInteger(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => value << 8n | BigInt(byte), 0n);
}

/**
 * `r || s` (64 bytes, what WebCrypto wants) of a strict DER `SEQUENCE { INTEGER r, INTEGER s }`, or `null`: for long-form
 * or wrong lengths, bytes left over, negative, zero or over-long integers, and leading zeros that need not be there.
 */
export function derToRaw(der: Uint8Array): Bytes | null {
  if (der.length < 8 || der.length > 72 || der[0] !== 0x30 || der[1] !== der.length - 2) return null;
  const r = readInteger(der, 2);
  if (r === null) return null;
  const s = readInteger(der, r.end);
  if (s === null || s.end !== der.length) return null;
  return concat(r.value, s.value);
}

function readInteger(der: Uint8Array, at: number): { value: Bytes; end: number } | null {
  const length = der[at + 1];
  if (der[at] !== 0x02 || length === undefined || length < 1 || length > COORDINATE + 1) return null;
  const digits = der.subarray(at + 2, at + 2 + length);
  const first = digits[0];
  if (first === undefined || first >= 0x80) return null;
  if (first === 0 && (length === 1 || digits[1]! < 0x80)) return null; // zero, or a zero byte too many
  const magnitude = first === 0 ? digits.subarray(1) : digits;
  if (magnitude.length > COORDINATE) return null;
  const value = new Uint8Array(COORDINATE);
  value.set(magnitude, COORDINATE - magnitude.length);
  return { value, end: at + 2 + length };
}

/** Whether `raw` (`r || s`) signs `data` under the uncompressed `point`. Throws where an engine refuses the key. */
export async function verifyEs256(point: Bytes, raw: Bytes, data: Bytes): Promise<boolean> {
  const curve = { name: "ECDSA", namedCurve: "P-256" };
  const key = await crypto.subtle.importKey("raw", point, curve, false, ["verify"]);
  return await crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, raw, data);
}
