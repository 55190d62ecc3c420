/** SHA-256 as manifests write it. */

import { toHex } from "@custos/core/bytes";

/** The digest of `bytes` in lower-case hex. */
export async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
