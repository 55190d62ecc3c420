/**
 * Which headers an agent may set. APIs need headers of their own, so what is a valid token and is not listed here passes
 * (DESIGN §12). What is listed would change the message's framing, its destination, its method as a server sees it, what
 * comes back in a form that cannot be scrubbed, or the credential.
 */

import { CustosError } from "./errors.ts";
import type { Placement, Policy } from "./policy.ts";

/** RFC 9110 §5.6.2 token, the form of a header's name. */
export const TOKEN_PATTERN: RegExp = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/** Most headers of one request. */
export const MAX_HEADERS = 100;
/** Largest sum of all names and values, in characters, which are bytes on the wire. */
export const MAX_HEADER_BYTES = 16_384;

/** Framing, connection and routing: never an agent's, and never a secret's place either. */
const FRAMING: readonly string[] = [
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "trailers",
  "transfer-encoding",
  "upgrade",
  "via",
];

/** Other names that are refused from an agent. */
const REFUSED: readonly string[] = [
  // credentials other than the secret (B54)
  "authorization",
  "cookie",
  "cookie2",
  // would return the secret packed or in pieces that no scrubber joins (B61)
  "accept-encoding",
  "range",
  "if-range",
  // another sender, host or path than the one that the human saw (B42)
  "forwarded",
  "x-real-ip",
  "x-original-host",
  "x-original-uri",
  "x-original-url",
  "x-rewrite-url",
  // another method than the one that the human saw (B48)
  "x-http-method",
  "x-http-method-override",
  "x-method",
  "x-method-override",
  "x-original-method",
];

/** Families of names, by their beginning. */
const REFUSED_PREFIXES: readonly string[] = ["proxy-", "sec-", "x-forwarded-"];

/**
 * Checks an agent's headers and returns them with names in small letters, blanks around values removed, in the order
 * given: this is the list that is hashed, shown and sent. A name may appear once, in any letter case (B40).
 *
 * Throws `header_not_allowed`. The text names the header, never its value (B37).
 *
 * ```ts
 * import { checkHeaders } from "@custos/core/header_rules";
 * const sent = checkHeaders({ placement: { kind: "bearer" } }, [["Accept", "application/json"]]);
 * if (sent[0]?.[0] !== "accept") throw new Error();
 * ```
 */
export function checkHeaders(
  policy: Pick<Policy, "placement">,
  headers: readonly (readonly [string, string])[],
): [string, string][] {
  const own = headerOf(policy.placement);
  if (headers.length > MAX_HEADERS) refuse(`There are more than ${MAX_HEADERS} headers.`);
  const seen = new Set<string>();
  const out: [string, string][] = [];
  let size = 0;
  for (const [i, [given, value]] of headers.entries()) {
    if (typeof given !== "string" || !TOKEN_PATTERN.test(given)) {
      // the pseudo headers of HTTP/2 (`:authority`) end here too: a colon is no token character (B42)
      refuse(`Header ${i + 1} has a name that is not an HTTP token of at most 128 characters.`);
    }
    const name = given.toLowerCase();
    if (name === own) refuse(`The header ${name} is where custos puts the secret. Leave it out.`);
    if (isRefused(name)) refuse(`The header ${name} may not be set by a caller. Leave it out.`);
    if (seen.has(name)) refuse(`The header ${name} is given twice. Send it once.`);
    seen.add(name);
    // a control in a value can end the header and begin another (B37)
    if (typeof value !== "string" || !/^[\t\x20-\x7e\xa0-\xff]*$/.test(value)) {
      refuse(
        `The value of the header ${name} holds a line break, a control character or text outside Latin-1.`,
      );
    }
    const trimmed = value.replace(/^[\t ]+|[\t ]+$/g, "");
    size += name.length + trimmed.length;
    if (size > MAX_HEADER_BYTES) refuse(`The headers are larger than ${MAX_HEADER_BYTES} bytes in all.`);
    out.push([name, trimmed]);
  }
  return out;
}

/** Whether a secret may be placed in this header: not where it would change the framing or the host. */
export function isPlaceableHeader(name: string): boolean {
  return TOKEN_PATTERN.test(name) && !FRAMING.includes(sameForServers(name));
}

/** Header that a placement fills, in small letters, or `null`. */
export function headerOf(placement: Placement): string | null {
  if (placement.kind === "query") return null;
  return placement.kind === "header" ? placement.name.toLowerCase() : "authorization";
}

function isRefused(name: string): boolean {
  const wide = sameForServers(name);
  return FRAMING.includes(wide) || REFUSED.includes(wide) ||
    REFUSED_PREFIXES.some((prefix) => wide.startsWith(prefix));
}

/** CGI and its descendants read `_` and `-` as the same character. */
function sameForServers(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}

function refuse(why: string): never {
  throw new CustosError("header_not_allowed", why);
}
