/**
 * The MCP server as a program, on standard input and output. Standard output carries the protocol and nothing else (B85).
 * It ends when its client goes (B89), and leaves every request as it is: a wait that ends withdraws nothing.
 *
 * @module
 */

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { asCustosError } from "@custos/core/errors";
import { Client } from "@custos/rpc/client";
import { HELP, type Options, readOptions } from "./options.ts";
import { createServer } from "./server.ts";
import { PipeTransport } from "./stdio.ts";

/** Exit code for arguments that do not fit, as in the CLI (DESIGN §11). */
const USAGE = 2;

function say(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text));
}

/** A stray `console.log` of a library would break the stream of messages, so every method of it goes to stderr. */
function keepStdoutClean(): void {
  const { error } = globalThis.console;
  Object.assign(globalThis.console, { log: error, info: error, debug: error, dir: error, table: error });
}

/** A variable that this process was not permitted to read counts as unset. */
function readEnv(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch {
    return undefined;
  }
}

function optionsOrExit(): Options {
  try {
    return readOptions(Deno.args, readEnv);
  } catch (error) {
    say(`custos-mcp: ${asCustosError(error).message}\n`);
    Deno.exit(USAGE);
  }
}

function main(): void {
  const options = optionsOrExit();
  if (options.help) {
    // for a person: nobody speaks the protocol to a process that only shows its help
    Deno.stdout.writeSync(new TextEncoder().encode(HELP));
    return;
  }
  keepStdoutClean();
  // SIGUSR1 would open the runtime's inspector, with or without permission; a listener that exits prevents it (DESIGN §3)
  Deno.addSignalListener("SIGUSR1", () => Deno.exit(1));
  const daemon = new Client({ socket: options.socket });
  const transport = new PipeTransport({ input: Deno.stdin.readable, output: Deno.stdout.writable });
  void transport.closed.then(() => Deno.exit(0));
  serveStdio(() => createServer({ daemon, agent: options.agent }), {
    transport,
    onerror: (error) => say(`custos-mcp: ${error.name} in the connection to the client.\n`),
  });
}

if (import.meta.main) main();
