/**
 * Loaded before the daemon (`--preload`) where a test needs time to pass: each SIGUSR2 puts its wall clock 20 minutes
 * ahead. The daemon itself has no such seam, and runs under the same flags as ever.
 */

const STEP_MS = 20 * 60_000;
const real = Date.now;
let ahead_ms = 0;
Date.now = () => real() + ahead_ms;
Deno.addSignalListener("SIGUSR2", () => {
  ahead_ms += STEP_MS;
});
