/** Small things about bytes that several tests need. */

import { fromBase64url, toBase64url } from "@custos/core/bytes";

/** The same base64url with one bit of its last byte turned. */
export function flipped(text: string): string {
  const bytes = fromBase64url(text)!;
  bytes[bytes.length - 1]! ^= 1;
  return toBase64url(bytes);
}
