/**
 * Client data: what the browser says about the page that asked (W3C WebAuthn L3 §5.8.1). It is signed by the passkey,
 * so it is where a foreign page, a frame or a replayed challenge shows.
 */

import { equalBytes, fromBase64url, fromUtf8 } from "./bytes.ts";

/** What client data must say. */
export interface ExpectedClientData {
  type: "webauthn.create" | "webauthn.get";
  /** Exactly 32 bytes: every challenge of custos is a labelled SHA-256. */
  challenge: Uint8Array;
  /** The one accepted origin, compared as a string. */
  origin: string;
}

/** The step at which client data was refused. */
export type ClientDataStep =
  | "client_data"
  | "type"
  | "challenge"
  | "origin"
  | "cross_origin"
  | "top_origin";

const CHALLENGE_BYTES = 32;

/**
 * `null` if `bytes` say exactly what is expected, else the first step that does not hold. The numbers are those of
 * L3 §7.2; in brackets those of §7.1 for a registration. Unknown members are allowed: browsers add some on purpose.
 */
export function readClientData(bytes: Uint8Array, expected: ExpectedClientData): ClientDataStep | null {
  // 8 and 9 (5 and 6): UTF-8 and JSON. Stricter than the specification: broken UTF-8 and a byte order mark are refused,
  // since no browser writes them.
  const data = parseObject(bytes);
  if (data === null) return "client_data";

  // 10 (7): a registration can never stand for an approval, nor the other way round.
  if (data.type !== expected.type) return "type";

  // 11 (8): the challenge is the hash that the caller computed. Compared as bytes of a strict decoding.
  const challenge = typeof data.challenge === "string" ? fromBase64url(data.challenge) : null;
  if (expected.challenge.length !== CHALLENGE_BYTES) return "challenge";
  if (challenge === null || !equalBytes(challenge, expected.challenge)) return "challenge";

  // 12 (9): one exact origin string; no prefix, no suffix, no list (B116).
  if (expected.origin === "" || data.origin !== expected.origin) return "origin";

  // 13 (10): custos is never framed. SimpleWebAuthn accepts `crossOrigin: true` without `topOrigin` (B116, B131).
  if (data.crossOrigin !== undefined && data.crossOrigin !== false) return "cross_origin";

  // 14 (11): so there is no top origin either, whatever it says.
  if (data.topOrigin !== undefined) return "top_origin";
  return null;
}

function parseObject(bytes: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(fromUtf8(bytes));
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    return value as Record<string, unknown>;
  } catch {
    return null;
  }
}
