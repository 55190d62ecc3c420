/** Keys as text, so that a test phone can keep them in a file. A browser keeps non-extractable `CryptoKey`s instead. */

import { fromBase64url, toBase64url } from "@custos/core/bytes";
import type { KeyKeeper } from "@custos/core/channel";
import { frameKey } from "@custos/core/frame";
import { rootKey } from "@custos/core/handshake";

/** Keeps keys as unpadded base64url. */
export const TEXT_KEEPER: KeyKeeper<string> = {
  keep: (bytes) => Promise.resolve(toBase64url(bytes)),
  load: (kept, use) => {
    const bytes = fromBase64url(kept)!;
    return use === "root" ? rootKey(bytes) : frameKey(bytes);
  },
};
