/**
 * Takes from a cell what no permission covers, before any code that touches a secret runs: `caches` writes to disk,
 * `BroadcastChannel` reaches other cells (DESIGN §12), a nested `Worker` would have both again, and a library that logs
 * would write to the daemon's output (B71). Imported first; a cell in which it fails does not start.
 */

const REACH_OUT: readonly string[] = [
  "BroadcastChannel",
  "Worker",
  "caches",
  "indexedDB",
  "localStorage",
  "sessionStorage",
];

for (const name of REACH_OUT) {
  if (!Reflect.deleteProperty(globalThis, name) || name in globalThis) {
    throw new Error(`cell: ${name} cannot be taken away`);
  }
}

for (const name of Object.keys(console)) {
  Object.defineProperty(console, name, { value: () => {}, writable: false, configurable: false });
}
