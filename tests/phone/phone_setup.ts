/** What a software phone is made of, with a default for everything that a test does not care about. */

import { decodeRecoverySheet } from "@custos/core/recovery_sheet";
import type { RelayFetch } from "@custos/core/relay_client";
import type { PhoneParts, PhoneStore } from "@custos/pwa";
import type { SoftwareAuthenticator } from "./authenticator.ts";
import { MemoryStore } from "./memory_store.ts";
import { TEXT_KEEPER } from "./text_keeper.ts";

const BUILD = "software-phone/0.1.0";

/** What a phone can be given; a phone without a store lives in memory. */
export interface PhoneSetup {
  store?: PhoneStore<string>;
  authenticator?: SoftwareAuthenticator;
  fetch?: RelayFetch;
  now?: () => number;
}

/** What pairing can be given. */
export interface PairSetup extends PhoneSetup {
  onWords: (words: string) => void;
  device_name?: string;
  /** Shows and proves the recovery sheet; without it the phone types it again by itself. */
  proveRecoverySheet?: (sheet: string) => Promise<boolean>;
  signal?: AbortSignal;
}

/** Types the sheet again, as a person would. */
export async function typedAgain(sheet: string): Promise<boolean> {
  (await decodeRecoverySheet(sheet)).wipe();
  return true;
}

/** The parts of the protocol code. */
export function partsOf(setup: PhoneSetup, authenticator: SoftwareAuthenticator): PhoneParts<string> {
  return {
    store: setup.store ?? new MemoryStore(),
    keeper: TEXT_KEEPER,
    authenticator,
    fetch: setup.fetch ?? ((url, init) => fetch(url, init)),
    now: setup.now ?? Date.now,
    build: BUILD,
  };
}
