/**
 * Canonical JSON. A document is I-JSON (RFC 7493) in the form of RFC 8785; what is hashed, signed or sealed is exactly
 * these bytes. Reading refuses every other spelling, which also catches duplicate keys (DESIGN §5.1).
 */

import canonicalize from "canonicalize";
import { type Bytes, equalBytes, fromUtf8, utf8 } from "./bytes.ts";
import { CustosError } from "./errors.ts";

/** What JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | {
  readonly [key: string]: Json | undefined;
};

/**
 * RFC 8785 bytes of a value; members that are `undefined` are left out.
 * Throws `bad_request` on what I-JSON cannot say (NaN, lone surrogates, cycles).
 */
export function canonicalBytes(value: unknown): Bytes {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch {
    text = undefined;
  }
  if (text === undefined) {
    throw new CustosError("bad_request", "This document holds something that canonical JSON cannot say.");
  }
  return utf8(text);
}

/**
 * The value of a canonical document. Throws `bad_request` unless the bytes are exactly the canonical form of what they
 * say: other spacing, key order, number spelling, duplicate keys and broken UTF-8 are all refused.
 */
export function parseCanonical(bytes: Uint8Array): Json {
  try {
    const value = JSON.parse(fromUtf8(bytes)) as Json;
    if (equalBytes(canonicalBytes(value), bytes)) return value;
  } catch {
    // fall through: the one refusal below says all that a caller may know
  }
  throw new CustosError(
    "bad_request",
    "This document is not in canonical form (RFC 8785), so it was not read.",
  );
}
