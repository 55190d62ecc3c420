/**
 * Loaded before the daemon (`--preload`): its wall clock jumps at each SIGUSR2, first 20 minutes ahead, then 40 minutes back,
 * and so on between the two. Timers and the monotonic clock go on as they are, as on a machine whose time is set.
 */

const AHEAD_MS = 20 * 60_000;
const real = Date.now;
let offset_ms = 0;
Date.now = () => real() + offset_ms;
Deno.addSignalListener("SIGUSR2", () => {
  offset_ms = offset_ms === AHEAD_MS ? -AHEAD_MS : AHEAD_MS;
});
