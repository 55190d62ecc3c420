/** What the phone's protocol code is given from outside. It does no I/O of its own. */

import type { KeyKeeper } from "@custos/core/channel";
import type { PasskeyAuthenticator } from "@custos/core/passkey";
import type { RelayFetch } from "@custos/core/relay_client";
import type { PhoneStore } from "./phone_store.ts";

/** The outside of a phone. */
export interface PhoneParts<K> {
  store: PhoneStore<K>;
  keeper: KeyKeeper<K>;
  authenticator: PasskeyAuthenticator;
  fetch: RelayFetch;
  /** Milliseconds since 1970. */
  now: () => number;
  /** What this build of the phone calls itself, for the daemon's log. */
  build: string;
}
