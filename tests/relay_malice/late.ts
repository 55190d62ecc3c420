/**
 * Loaded before the daemon (`--preload`) where a test needs a limit of minutes to be over: each SIGUSR2 lets every timer of a
 * minute or more go off at once. The daemon itself has no such seam, and runs under the same flags as ever.
 */

const MINUTE_MS = 60_000;
const real = globalThis.setTimeout;
const long = new Map<ReturnType<typeof setTimeout>, () => void>();

globalThis.setTimeout = ((callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
  const timer = real(callback, ms, ...args);
  if ((ms ?? 0) >= MINUTE_MS) long.set(timer, () => callback(...args));
  return timer;
}) as typeof setTimeout;

Deno.addSignalListener("SIGUSR2", () => {
  for (const [timer, callback] of [...long]) {
    clearTimeout(timer);
    long.delete(timer);
    callback();
  }
});
