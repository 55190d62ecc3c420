/** What of an answer's headers is passed on, and which answers are not (DESIGN §12). */

import { CustosError } from "@custos/core/errors";
import type { Target } from "@custos/core/target";
import { mayBeDone } from "./fetch_errors.ts";
import type { FormIndex } from "./form_index.ts";
import { latin1Bytes, latin1Text } from "./latin1.ts";
import { scrubWhole } from "./scrubber.ts";

/** Hop-by-hop (RFC 9110 §7.6.1), cookies (a session would be a second credential, B63). */
const DROPPED: readonly string[] = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-connection",
  "set-cookie",
  "set-cookie2",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** Said about the body as upstream packed it; true only where there is no body. */
const UNTRUE: readonly string[] = ["content-length", "content-encoding"];

/** What the runtime unpacks, or need not: it looks at the one whole value, so `gzip, identity` stays packed (measured). */
const READABLE: readonly string[] = ["", "identity", "gzip", "br"];

/**
 * Refuses an answer that cannot be passed on scrubbed: a switch of protocols is no answer (B83), and an encoding that the
 * runtime left in place would hide the secret (B61). Throws `outcome_unknown` or `undecodable_encoding`.
 */
export function checkResponse(status: number, headers: Headers, target: Target): void {
  if (status === 101) {
    const why = `${target.host} switched protocols instead of answering. ${mayBeDone(target.method)}`;
    throw new CustosError("outcome_unknown", why);
  }
  if (!mayHaveBody(status, target.method)) return;
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  const transfer = list(headers.get("transfer-encoding"));
  if (!READABLE.includes(encoding) || transfer.some((coding) => coding !== "chunked")) {
    const why =
      `${target.host} answered with status ${status} in an encoding that custos cannot look into, so the ` +
      `answer was not passed on. ${mayBeDone(target.method)}`;
    throw new CustosError("undecodable_encoding", why);
  }
}

/** Whether an answer has a body (RFC 9110 §6.4.1). */
export function mayHaveBody(status: number, method: string): boolean {
  return method !== "HEAD" && status !== 204 && status !== 205 && status !== 304;
}

/**
 * The headers to pass on, scrubbed. A header with the secret in its name is left out, in any letter case, because names
 * arrive in small letters (B63).
 */
export function scrubHeaders(
  status: number,
  headers: Headers,
  target: Target,
  scrub: { index: FormIndex; folded: FormIndex; marker: Uint8Array },
): { headers: [string, string][]; redactions: number } {
  const named = list(headers.get("connection"));
  const kept: [string, string][] = [];
  headers.forEach((value, name) => {
    if (DROPPED.includes(name) || named.includes(name)) return;
    if (UNTRUE.includes(name) && mayHaveBody(status, target.method)) return;
    kept.push([name, value]);
  });
  if (isClean(kept, scrub)) return { headers: kept, redactions: 0 };
  const out: [string, string][] = [];
  let redactions = 0;
  for (const [name, value] of kept) {
    const bytes = latin1Bytes(name.toLowerCase());
    if (scrub.folded.find(bytes, 0, bytes.length) !== null) {
      redactions++;
      continue;
    }
    const scrubbed = scrubWhole(scrub.index, scrub.marker, latin1Bytes(value));
    redactions += scrubbed.redactions;
    out.push([name, scrubbed.redactions === 0 ? value : latin1Text(scrubbed.bytes)]);
  }
  return { headers: out, redactions };
}

/** Whether one look over all names and values at once finds nothing, as in nearly every answer; else each is looked at. */
function isClean(
  headers: readonly [string, string][],
  { index, folded }: { index: FormIndex; folded: FormIndex },
): boolean {
  const names = latin1Bytes(headers.map(([name]) => name.toLowerCase()).join("\n"));
  const values = latin1Bytes(headers.map(([, value]) => value).join("\n"));
  return folded.find(names, 0, names.length) === null && index.find(values, 0, values.length) === null;
}

function list(value: string | null): string[] {
  return (value ?? "").split(",").map((item) => item.trim().toLowerCase()).filter((item) => item !== "");
}
