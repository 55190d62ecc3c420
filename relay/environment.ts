/** What must not be set around a process that others rely on (DESIGN §3, Environment). */

import { StartError } from "./start_error.ts";

/** Exit code after `SIGUSR1`: 128 and the signal's number on Linux. */
const EXIT_SIGUSR1 = 138;

/**
 * `NODE_OPTIONS=--inspect` opens a debugger; `SSLKEYLOGFILE` makes the runtime write TLS keys to a file. The runtime lets
 * every process read the first.
 */
const REFUSED = [{ variable: "NODE_OPTIONS", open: true }, { variable: "SSLKEYLOGFILE", open: false }];

/**
 * Throws {@link StartError} `environment` where a refused variable is set. `SSLKEYLOGFILE` is looked at only under
 * `--allow-env=SSLKEYLOGFILE`; without it that is left to the launcher, which starts the relay with a clean environment.
 */
export function refuseUnsafeEnvironment(): void {
  for (const { variable, open } of REFUSED) {
    const readable = open || Deno.permissions.querySync({ name: "env", variable }).state === "granted";
    if (readable && Deno.env.get(variable) !== undefined) {
      throw new StartError(
        "environment",
        `Unset ${variable} to start the relay: it opens this process to others.`,
      );
    }
  }
}

/** Exits on `SIGUSR1`, with which the runtime opens its debugger to everybody on this machine, permission or not. */
export function exitOnDebugSignal(): void {
  Deno.addSignalListener("SIGUSR1", () => Deno.exit(EXIT_SIGUSR1));
}
