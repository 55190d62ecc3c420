/**
 * `deno task phone`: the software phone as a command. It needs its own folder and the relay, and nothing else. Exit codes
 * are those of custos: 0 done, 2 usage, 4 the request is over or pairing was refused, 5 not confirmed, 6 not paired or
 * locked.
 */

import { displaySafe } from "@custos/core/display";
import { asCustosError, CustosError } from "@custos/core/errors";
import { exitCodeOf } from "@custos/rpc/error_codes";
import { runCommand } from "./commands.ts";
import { readOptions, USAGE } from "./options.ts";
import { note, say } from "./terminal.ts";

/** Runs the command line and returns its exit code. */
async function main(args: readonly string[]): Promise<number> {
  try {
    const options = readOptions(args);
    if (options.command !== "help") return await runCommand(options);
    say(USAGE);
    return 0;
  } catch (error) {
    return fail(error);
  }
}

function fail(error: unknown): number {
  if (error instanceof DOMException && error.name === "NotAllowedError") {
    note("The passkey was not used, so nothing was approved. Try again.");
    return exitCodeOf("no_device");
  }
  const { kind, message, request } = asCustosError(error);
  const about = request === null ? "" : ` (request ${request.id}, fingerprint: ${request.fingerprint})`;
  for (const line of `${message}${about}`.split("\n")) note(displaySafe(line));
  if (!(error instanceof CustosError)) note(placeOf(error));
  return exitCodeOf(kind);
}

/** Where an unexpected error came from: its frames, without its text, which could hold a value. */
function placeOf(error: unknown): string {
  const stack = error instanceof Error ? error.stack ?? "" : "";
  return stack.split("\n").filter((line) => line.startsWith("    at ")).slice(0, 5).join("\n");
}

if (import.meta.main) Deno.exit(await main(Deno.args));
