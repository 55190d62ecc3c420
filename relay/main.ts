/**
 * The relay as a program.
 *
 * ```sh
 * deno run --no-prompt --unstable-no-legacy-abort --allow-net=127.0.0.1:8787 \
 *   --allow-read=/var/lib/custos-relay --allow-write=/var/lib/custos-relay \
 *   jsr:@custos/relay/main --data /var/lib/custos-relay --pwa-origin https://custos.example
 * ```
 *
 * It writes no access log, and nothing of a request to anywhere but the store.
 */

import { exitOnDebugSignal, refuseUnsafeEnvironment } from "./environment.ts";
import { HELP, parseRelayArguments, type RelayArguments } from "./options.ts";
import { openVapidKey } from "./push_key.ts";
import type { PushOptions } from "./push_sender.ts";
import { Reporter } from "./reporter.ts";
import { SqliteStore } from "./sqlite_store.ts";
import { startRelay } from "./start.ts";
import { StartError } from "./start_error.ts";

/** Shorter invites could be guessed at the rate that the limits allow. */
const INVITE_CHARACTERS_MIN = 16;

async function main(args: readonly string[]): Promise<number> {
  exitOnDebugSignal();
  const given = parseRelayArguments(args);
  if (given === null) {
    write(Deno.stdout, HELP);
    return 0;
  }
  refuseUnsafeEnvironment();
  const stop = stopSignal();
  const reporter = new Reporter((line) => write(Deno.stderr, `custos relay: ${line}\n`));
  const store = new SqliteStore(given.data, { limits: given.limits });
  const push = await pushOf(given);
  const relay = await startRelay({
    ...given,
    ...(push === null ? {} : { push }),
    ...(given.invite_file === null ? {} : { invite: readInvite(given.invite_file) }),
    store,
    report: (line) => reporter.report(line),
  });
  announce(given, relay.addresses);
  await stop;
  await relay.stop();
  return 0;
}

function announce(given: RelayArguments, addresses: readonly string[]): void {
  if (given.json) {
    const push = given.push_contact !== null;
    write(Deno.stdout, JSON.stringify({ ready: true, pid: Deno.pid, listen: addresses, push }) + "\n");
  } else write(Deno.stderr, `custos relay: listening on ${addresses.join(", ")}\n`);
}

/** The key is in the data folder, which the store has made. */
async function pushOf({ data, push_contact }: RelayArguments): Promise<PushOptions | null> {
  return push_contact === null ? null : { key: await openVapidKey(data), contact: push_contact };
}

function readInvite(file: string): string {
  let invite: string;
  try {
    invite = Deno.readTextFileSync(file).trim();
  } catch (error) {
    throw new StartError("usage", `The invite file ${file} cannot be read (${(error as Error).name}).`);
  }
  if (!/^[!-~]+$/.test(invite) || invite.length < INVITE_CHARACTERS_MIN) {
    throw new StartError(
      "usage",
      `The invite in ${file} must be one line of at least ${INVITE_CHARACTERS_MIN} printable ASCII characters.`,
    );
  }
  return invite;
}

/** Settles at the first `SIGTERM` or `SIGINT`. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    Deno.addSignalListener("SIGTERM", () => resolve());
    Deno.addSignalListener("SIGINT", () => resolve());
  });
}

function write(to: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(to.writeSync(bytes));
}

if (import.meta.main) {
  try {
    Deno.exit(await main(Deno.args));
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    write(Deno.stderr, `custos relay: ${error.message}\n`);
    Deno.exit(error.exitCode);
  }
}
