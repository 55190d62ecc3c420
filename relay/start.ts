/** A whole relay: store, app, places to listen, and the sweeping of what has expired. */

import { createRelay, type RelayOptions } from "./app.ts";
import { DEFAULT_LIMITS, type RelayLimits } from "./limits.ts";
import { listen, type Listening, type Place } from "./listen.ts";
import type { Store } from "./store.ts";

/** What {@link startRelay} takes: a relay's options and where to listen. The store is closed when the relay stops. */
export interface StartOptions extends RelayOptions {
  listen: readonly Place[];
}

/** A relay that runs. */
export interface RunningRelay {
  /** Where it listens, as `http://host:port` or `unix:/path`, in the order of the places. */
  addresses: string[];
  /** Ends waits and streams, lets other requests finish for a moment, and closes the store. */
  stop(): Promise<void>;
}

/**
 * Starts a relay. Throws `StartError` where it cannot listen; then nothing is left running and the store is closed.
 *
 * ```ts ignore
 * const store = new SqliteStore("/var/lib/custos-relay");
 * const relay = await startRelay({ store, listen: [{ hostname: "127.0.0.1", port: 8787 }] });
 * await relay.stop();
 * ```
 */
export async function startRelay(options: StartOptions): Promise<RunningRelay> {
  const limits: RelayLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const { store } = options;
  const relay = createRelay(options);
  const listening: Listening[] = [];
  const stopListening = () => Promise.all(listening.map((place) => place.stop(limits.stop_ms)));
  try {
    for (const place of options.listen) listening.push(await listen(place, relay.fetch));
  } catch (error) {
    await stopListening();
    await store.close();
    throw error;
  }
  const sweeper = setInterval(() => sweep(store, options.report), limits.sweep_ms);
  return {
    addresses: listening.map((place) => place.address),
    stop: async () => {
      clearInterval(sweeper);
      relay.stop();
      await stopListening();
      await store.close();
    },
  };
}

async function sweep(store: Store, report: (line: string) => void = () => {}): Promise<void> {
  try {
    while (await store.sweep() > 0); // each step is small, and requests are served in between
  } catch (error) {
    report(`Removing expired messages failed: ${(error as Error).name}`);
  }
}
