/** A certificate for TLS on loopback, made anew for each run: no key is kept in the repository. */

import { toBase64 } from "@custos/core/bytes";

/** A key and its self-signed certificate, in PEM (RFC 7468). */
export interface TestCertificate {
  cert: string;
  key: string;
}

/** What the certificate says. */
export interface CertificateOptions {
  /** Host name, or `127.0.0.1`. */
  host: string;
  not_after?: Date;
}

const tlv = (tag: number, ...content: Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const body = content.flatMap((part) => [...part]);
  const length = body.length < 128
    ? [body.length]
    : body.length < 256
    ? [0x81, body.length]
    : [0x82, body.length >> 8, body.length & 255];
  return Uint8Array.from([tag, ...length, ...body]);
};
const sequence = (...content: Uint8Array[]) => tlv(0x30, ...content);
const set = (...content: Uint8Array[]) => tlv(0x31, ...content);
const integer = (...bytes: number[]) => tlv(0x02, Uint8Array.from(bytes));
const text = (tag: number, value: string) => tlv(tag, new TextEncoder().encode(value));
const oid = (...bytes: number[]) => tlv(0x06, Uint8Array.from(bytes));
const bits = (bytes: Uint8Array) => tlv(0x03, Uint8Array.of(0), bytes);
const time = (date: Date) => text(0x18, date.toISOString().replace(/[-:T]|\.\d+/g, ""));

const ECDSA_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const COMMON_NAME = oid(0x55, 0x04, 0x03);
const SUBJECT_ALT_NAME = oid(0x55, 0x1d, 0x11);

/** Makes one (RFC 5280 §4.1), with ECDSA over P-256. */
export async function testCertificate(options: CertificateOptions): Promise<TestCertificate> {
  const { host, not_after = new Date(Date.now() + 86_400_000) } = options;
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const pair = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const spki = new Uint8Array(await crypto.subtle.exportKey("spki", pair.publicKey));
  const name = sequence(set(sequence(COMMON_NAME, text(0x0c, "custos test"))));
  const address = /^\d+\.\d+\.\d+\.\d+$/.test(host);
  const subject = address ? tlv(0x87, Uint8Array.from(host.split("."), Number)) : text(0x82, host);
  const extension = sequence(SUBJECT_ALT_NAME, tlv(0x04, sequence(subject)));
  const body = sequence(
    tlv(0xa0, integer(2)), // version 3
    integer(1 + Math.floor(Math.random() * 126)),
    ECDSA_SHA256,
    name,
    sequence(time(new Date(Date.now() - 172_800_000)), time(not_after)),
    name,
    spki,
    tlv(0xa3, sequence(extension)),
  );
  const signature = new Uint8Array(
    await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, pair.privateKey, body),
  );
  const certificate = sequence(body, ECDSA_SHA256, bits(sequence(half(signature, 0), half(signature, 32))));
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey));
  return { cert: pem("CERTIFICATE", certificate), key: pem("PRIVATE KEY", pkcs8) };
}

/** One of the two numbers of a signature, as DER wants it: without zeros before it, and positive. */
function half(signature: Uint8Array, at: number): Uint8Array<ArrayBuffer> {
  const digits = [...signature.subarray(at, at + 32)];
  while (digits[0] === 0) digits.shift();
  return integer(...(digits[0]! >= 128 ? [0, ...digits] : digits));
}

function pem(label: string, der: Uint8Array): string {
  const lines = toBase64(der).match(/.{1,64}/g)!;
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
