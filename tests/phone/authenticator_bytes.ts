/**
 * The byte structures that a WebAuthn client and authenticator make, written from the specification and on purpose
 * without any code of `core`: what verifies them must not be what made them.
 */

import { type CBORType, encodeCBOR } from "@levischuck/tiny-cbor";

/** Bits of the flags byte (W3C WebAuthn L3 §6.1). */
export const UP = 0x01, UV = 0x04, BE = 0x08, BS = 0x10, AT = 0x40, ED = 0x80;

/** Unpadded base64url. */
export function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Bytes of unpadded base64url. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (c) => c.charCodeAt(0));
}

/** One array of all parts. */
export function join(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** SHA-256. */
export async function sha256(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(bytes)));
}

/** What goes into client data. */
export interface ClientData {
  type: string;
  challenge: Uint8Array;
  origin: string;
  cross_origin: boolean;
  top_origin?: string;
  /** One more member as JSON text: Chromium adds one now and then, so that nobody compares with a template. */
  more?: string;
}

/** Client data in the limited serialisation of L3 §5.8.1.1: these members in this order, without spaces. */
export function clientDataJson(data: ClientData): Uint8Array<ArrayBuffer> {
  let json = `{"type":${JSON.stringify(data.type)},"challenge":"${base64url(data.challenge)}"`;
  json += `,"origin":${JSON.stringify(data.origin)},"crossOrigin":${data.cross_origin}`;
  if (data.top_origin !== undefined) json += `,"topOrigin":${JSON.stringify(data.top_origin)}`;
  if (data.more !== undefined) json += `,${data.more}`;
  return new TextEncoder().encode(json + "}");
}

/** COSE_Key of an uncompressed P-256 point, in CTAP2 canonical order. */
export function coseKey(point: Uint8Array): Uint8Array<ArrayBuffer> {
  return cbor(
    new Map<number, CBORType>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, point.slice(1, 33)],
      [-3, point.slice(33, 65)],
    ]),
  );
}

/** Attested credential data (L3 §6.5.1) with an all-zero AAGUID. */
export function attestedCredential(id: Uint8Array, key: Uint8Array): Uint8Array<ArrayBuffer> {
  return join(new Uint8Array(16), Uint8Array.of(id.length >> 8, id.length & 255), id, key);
}

/** Authenticator data (L3 §6.1). `rest` is attested credential data and extensions, as the flags say. */
export async function authenticatorData(
  rp_id: string,
  flags: number,
  count: number,
  ...rest: Uint8Array[]
): Promise<Uint8Array<ArrayBuffer>> {
  const counter = new Uint8Array(4);
  new DataView(counter.buffer).setUint32(0, count);
  const rpIdHash = await sha256(new TextEncoder().encode(rp_id));
  return join(rpIdHash, Uint8Array.of(flags), counter, ...rest);
}

/** Attestation object (L3 §6.5.4), members in canonical order. */
export function attestationObject(
  fmt: string,
  statement: Map<string, CBORType>,
  data: Uint8Array,
): Uint8Array<ArrayBuffer> {
  return cbor(new Map<string, CBORType>([["fmt", fmt], ["attStmt", statement], ["authData", data]]));
}

/** CBOR of a value. */
export function cbor(value: CBORType): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(encodeCBOR(value));
}

/** DER `SEQUENCE { INTEGER r, INTEGER s }` of WebCrypto's `r || s`. */
export function signatureDer(raw: Uint8Array): Uint8Array<ArrayBuffer> {
  const integer = (half: Uint8Array) => {
    const first = half.findIndex((byte) => byte !== 0);
    const digits = first < 0 ? Uint8Array.of(0) : half.subarray(first);
    const body = digits[0]! >= 0x80 ? join(Uint8Array.of(0), digits) : digits;
    return join(Uint8Array.of(2, body.length), body);
  };
  const body = join(integer(raw.subarray(0, 32)), integer(raw.subarray(32)));
  return join(Uint8Array.of(0x30, body.length), body);
}
