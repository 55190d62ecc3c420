/**
 * The relay of custos: mailboxes for sealed messages, over HTTP (DESIGN §8, `wire.md`). It knows no accounts, no keys and
 * no content, and nothing of one instance matters when it dies.
 *
 * @module
 */

export { createRelay, type Relay, type RelayOptions } from "./app.ts";
export { DEFAULT_LIMITS, type RelayLimits } from "./limits.ts";
export { parsePlace, type Place } from "./listen.ts";
export { SqliteStore, type SqliteStoreOptions } from "./sqlite_store.ts";
export { newVapidKey, openVapidKey, type VapidKey } from "./push_key.ts";
export { PUSH_SERVICES } from "./push_services.ts";
export type { PushOptions, PushTiming } from "./push_sender.ts";
export { type RunningRelay, type StartOptions, startRelay } from "./start.ts";
export { START_EXIT_CODES, StartError } from "./start_error.ts";
export type { Appended, Later, Store, StoredMessage } from "./store.ts";
