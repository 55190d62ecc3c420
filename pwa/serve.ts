/**
 * Serves the phone app from its own module graph: it reads no file and reaches no host (DESIGN §3).
 *
 * ```sh
 * deno run --no-prompt --allow-net=127.0.0.1:8788,[::1]:8788 jsr:@custos/pwa/serve --relay https://relay.example
 * ```
 */

import { CustosError } from "@custos/core/errors";
import { ASSETS } from "./assets.ts";
import { createPwa } from "./serve_app.ts";
import { readServeArgs, SERVE_HELP, type ServeArgs } from "./serve_args.ts";

/** Exit codes: 0 stopped, 1 failed, 2 wrong flags, 6 cannot listen. */
async function main(argv: readonly string[]): Promise<number> {
  // With this signal the runtime opens its inspector, permission or not (DESIGN §3).
  Deno.addSignalListener("SIGUSR1", () => Deno.exit(138));
  const given = readServeArgs(argv);
  if (given === null) {
    write(Deno.stdout, SERVE_HELP);
    return 0;
  }
  const ended = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    Deno.addSignalListener(signal, () => ended.abort());
  }
  const servers = listenAll(given, ended.signal);
  if (servers === null) return 6;
  announce(given, servers.map(({ addr }) => addr as Deno.NetAddr));
  await Promise.all(servers.map(({ finished }) => finished));
  return 0;
}

/** Listens on every address, or on none and returns `null`. */
function listenAll(given: ServeArgs, signal: AbortSignal): Deno.HttpServer[] | null {
  const app = createPwa(ASSETS, given.relays);
  const servers: Deno.HttpServer[] = [];
  for (const { hostname, port, optional } of given.listen) {
    try {
      servers.push(Deno.serve({ hostname, port, signal, onListen: () => {} }, app));
    } catch (error) {
      // Only a machine without IPv6 goes on without it. A taken port is refused: its owner would be "localhost" too.
      if (optional && error instanceof Error && error.name === "AddrNotAvailable") continue;
      const why = error instanceof Error ? error.name : "unknown error";
      write(
        Deno.stderr,
        `custos pwa: cannot listen on ${hostname}:${port} (${why}). Choose another with --listen.\n`,
      );
      return null;
    }
  }
  return servers;
}

function announce(given: ServeArgs, addresses: readonly Deno.NetAddr[]): void {
  const listen = addresses.map(({ hostname, port }) =>
    `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`
  );
  if (given.json) write(Deno.stdout, JSON.stringify({ ready: true, pid: Deno.pid, listen }) + "\n");
  else write(Deno.stderr, `custos pwa: listening on ${listen.join(", ")}\n`);
}

function write(to: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(to.writeSync(bytes));
}

if (import.meta.main) {
  try {
    Deno.exit(await main(Deno.args));
  } catch (error) {
    if (!(error instanceof CustosError)) throw error;
    write(Deno.stderr, `custos pwa: ${error.message}\n`);
    Deno.exit(2);
  }
}
