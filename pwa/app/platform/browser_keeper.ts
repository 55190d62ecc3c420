/**
 * Keys of a browser phone: `CryptoKey`s that can be used and never read, not even by a script of this page (DESIGN §7).
 * IndexedDB stores them as they are.
 */

import type { KeyKeeper } from "@custos/core/channel";
import { frameKey } from "@custos/core/frame";
import { rootKey } from "@custos/core/handshake";

/** Keeps non-extractable keys. */
export const BROWSER_KEEPER: KeyKeeper<CryptoKey> = {
  keep: (bytes, use) => use === "root" ? rootKey(bytes) : frameKey(bytes),
  load: (kept) => Promise.resolve(kept),
};
