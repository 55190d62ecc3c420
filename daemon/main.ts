/** Entry point of the daemon. */

import { asCustosError } from "@custos/core/errors";
import { HELP, readArgs } from "./args.ts";
import { Daemon } from "./daemon.ts";
import { guardEnvironment } from "./environment.ts";
import { openDoor, rpcApp } from "./rpc_server.ts";

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

function complain(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Faults whose text may hold a value: only their kind and place go to the log. */
function logFault(error: unknown, where: string): void {
  const name = error instanceof Error ? error.name : typeof error;
  const place = error instanceof Error
    ? error.stack?.split("\n").slice(1, 4).map((line) => line.trim()).join(" ")
    : "";
  complain(`custos daemon: ${name} in ${where} ${place}`);
}

async function main(): Promise<number> {
  const args = readArgs(Deno.args);
  if (args === null) {
    say(HELP);
    return 0;
  }
  guardEnvironment();
  const stopped = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    Deno.addSignalListener(signal, () => stopped.resolve());
  }
  // The runtime opens its inspector on this signal, permission or not. Leaving at once ends all grants and cells.
  Deno.addSignalListener("SIGUSR1", () => Deno.exit(1));
  const daemon = await Daemon.start(args);
  const door = await openDoor(args.socket, rpcApp(daemon, logFault));
  if (args.json) say(JSON.stringify({ ready: true, socket: args.socket, pid: Deno.pid }));
  else say(`custos daemon is ready on ${args.socket}. Stop it with Ctrl-C.`);
  await stopped.promise;
  daemon.withdrawAll(); // first, so that callers who wait hear it while the door is still open
  await door.close();
  await daemon.stop();
  return 0;
}

try {
  Deno.exit(await main());
} catch (error) {
  const known = asCustosError(error);
  if (known.kind === "internal") logFault(error, "start");
  complain(known.message);
  Deno.exit(1);
}
