/**
 * The value of a secret: what may be stored, and the exact form in which it goes on the wire (B52). A value is checked
 * where a human gives it, so that a trailing newline shows up as a notice and not as a 401 (B38).
 */

import { type Bytes, concat, fromUtf8, toBase64, utf8 } from "./bytes.ts";
import { VALUE_BYTES } from "./custody.ts";
import { CustosError } from "./errors.ts";
import type { Placement } from "./policy.ts";

const TOO_LONG = `it is longer than ${VALUE_BYTES.max} bytes.`;

/** A value as it will be stored, and what was changed on the way there, as sentences for the human. */
export interface CheckedSecret {
  value: Bytes;
  notices: string[];
}

/**
 * Checks a value for its place. A byte order mark and newlines at the end are dropped with a notice; all else that could
 * not be sent, or not be found again in an answer, is refused. A checked value passes again unchanged, without notices.
 *
 * Throws `bad_request`, never with a part of the value: outside `VALUE_BYTES` (a shorter one would be replaced in
 * places that have nothing to do with it, B67), not UTF-8, one
 * character repeated, blanks around it, NUL, and for placements other than `query` any control character; `bearer` and
 * `header` take printable ASCII only, as servers disagree about the rest.
 */
export function checkSecretValue(bytes: Uint8Array, placement: Placement): CheckedSecret {
  const notices: string[] = [];
  let text: string;
  try {
    text = fromUtf8(bytes.subarray(0, VALUE_BYTES.max + 16));
  } catch {
    return refuse(bytes.length > VALUE_BYTES.max ? TOO_LONG : "it is not UTF-8 text.");
  }
  if (text.startsWith("\ufeff")) {
    text = text.slice(1);
    notices.push("A byte order mark at the start was dropped.");
  }
  const ended = text.replace(/[\r\n]+$/, "");
  if (ended !== text) notices.push("The line break at the end was dropped.");
  const value = utf8(ended);
  if (value.length > VALUE_BYTES.max) refuse(TOO_LONG);
  if (value.length < VALUE_BYTES.min) {
    refuse(`it has fewer than ${VALUE_BYTES.min} bytes, too few to be replaced safely in an answer.`);
  }
  if (ended.trim() !== ended) refuse("it begins or ends with a blank. Paste it again without.");
  if (new Set(ended).size === 1) refuse("it is one character, repeated.");
  if (ended.includes("\0")) refuse("it holds a NUL character.");
  // deno-lint-ignore no-control-regex -- controls are exactly what is looked for (B38, RFC 7617 §2)
  if (placement.kind !== "query" && /[\x00-\x1f\x7f-\x9f]/.test(ended)) {
    refuse("it holds a line break or control character, which a header cannot carry.");
  }
  if ((placement.kind === "bearer" || placement.kind === "header") && !/^[\x20-\x7e]+$/.test(ended)) {
    refuse("it holds a character outside ASCII, which servers read in different ways in a header.");
  }
  return { value, notices };
}

/** What a placement adds to the request: one header, or one member of the query in its percent-encoded form. */
export type PlacedSecret =
  | { header: [name: string, value: string]; query?: undefined }
  | { header?: undefined; query: string };

/**
 * The exact wire form of a secret at its place. `secret` must have passed {@link checkSecretValue}.
 *
 * ```ts
 * import { placeSecret } from "@custos/core/secret_value";
 * const placed = placeSecret({ kind: "query", name: "key" }, new TextEncoder().encode("sk-test/Ab+c"));
 * if (placed.query !== "key=sk-test%2FAb%2Bc") throw new Error();
 * ```
 */
export function placeSecret(placement: Placement, secret: Uint8Array): PlacedSecret {
  switch (placement.kind) {
    case "bearer":
      return { header: ["authorization", `Bearer ${fromUtf8(secret)}`] };
    case "header": {
      // a function, because a replacement string would read `$&` in the secret as a pattern
      const value = placement.template.replace("{secret}", () => fromUtf8(secret));
      return { header: [placement.name.toLowerCase(), value.trim()] };
    }
    case "basic":
      return { header: ["authorization", `Basic ${toBase64(basicPair(placement.username, secret))}`] };
    case "query":
      return { query: `${placement.name}=${percentEncode(secret)}` };
  }
}

/** `user:secret`, the bytes inside a Basic credential (RFC 7617 §2, UTF-8). */
export function basicPair(username: string, secret: Uint8Array): Bytes {
  return concat(utf8(`${username}:`), secret);
}

/** Percent-encoding of everything but the unreserved characters of RFC 3986 §2.3, with capital hex digits. */
export function percentEncode(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9._~-]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

function refuse(why: string): never {
  throw new CustosError("bad_request", `The value cannot be stored: ${why}`);
}
