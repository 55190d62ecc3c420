/**
 * The hash of one request's content. A grant for "this exact request, once" carries it: what was shown is what is sent,
 * byte for byte (DESIGN §6.3).
 */

import { toBase64url } from "./bytes.ts";
import { canonicalBytes } from "./canonical.ts";
import { labelledHash } from "./labels.ts";

/** What is hashed: the checked parts, as `parseTarget` and `checkHeaders` return them. */
export interface RequestContent {
  method: string;
  /** `Target.url`. */
  url: string;
  headers: readonly (readonly [string, string])[];
  /** SHA-256 of the body as base64url; of no bytes where there is no body. */
  body_sha256: string;
}

/** `H("custos/content/v1", JCS{body_sha256, headers, method, url})` as base64url. */
export async function contentHash(content: RequestContent): Promise<string> {
  const { method, url, headers, body_sha256 } = content;
  return toBase64url(await labelledHash("content", canonicalBytes({ method, url, headers, body_sha256 })));
}
