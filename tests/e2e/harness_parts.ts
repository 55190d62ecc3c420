/** Relay, daemon and phone as the tests start them: as `deno task start` does, each under its declared flags. */

import type { Client } from "@custos/rpc/client";
import { commandLine, runDeno } from "@custos/tools/launch";
import type { Values } from "@custos/tools/permissions";
import type { PhoneSetup } from "../phone/phone_setup.ts";
import { SoftwarePhone } from "../phone/software_phone.ts";
import { Server } from "./harness_process.ts";
import { PATIENCE_MS } from "./harness_wait.ts";

/** Origin of the phone's page. */
export const ORIGIN = "http://localhost:8788";

/** Starts a relay; `address` in place of a port that the system chooses. `url` is what phones call it. */
export async function startRelay(
  values: Values,
  options: { address?: string | undefined; audit_file?: string },
): Promise<{ server: Server; url: string }> {
  const { address = values.relay_address, ...rest } = options;
  const args = ["--data", values.relay_dir, "--listen", address, "--listen", `unix:${values.relay_socket}`];
  // A phone is one person; the tests are a crowd behind one address.
  args.push("--limit", "address_burst=100000", "--limit", "address_per_second=10000");
  args.push("--pwa-origin", ORIGIN, "--json");
  const server = await Server.start("relay", { ...values, relay_address: address }, { args, ...rest });
  const tcp = (server.ready["listen"] as string[]).find((item) => !item.startsWith("unix:"))!;
  return { server, url: `http://${tcp.replace(/^http:\/\//, "")}` };
}

/** The arguments of a daemon at these places. */
export function daemonArgs(values: Values, relay_url: string): string[] {
  return [
    ...["--state", values.daemon_dir, "--socket", values.socket, "--profile", values.profile],
    ...["--relay", `unix:${values.relay_socket}`, "--relay-url", relay_url],
    ...["--pwa-origin", ORIGIN, "--name", "test computer", "--json"],
  ];
}

/** Starts a daemon; with `clock` one whose time can be put ahead (`clock.ts`). */
export async function startDaemon(
  values: Values,
  relay_url: string,
  options: { clock?: boolean; audit_file?: string } = {},
): Promise<Server> {
  const { clock, ...rest } = options;
  const args = daemonArgs(values, relay_url);
  if (clock !== true) return await Server.start("daemon", values, { args, ...rest });
  const [run, ...flags] = commandLine("daemon", values, args);
  const module = new URL("clock.ts", import.meta.url).pathname;
  const child = runDeno([run!, "--preload", module, ...flags], { stdout: "piped", stderr: "piped" });
  return await Server.of("daemon", child);
}

/** Pairs a phone; the first of its words is typed into the terminal. */
export async function pairPhone(client: Client, setup: PhoneSetup): Promise<SoftwarePhone> {
  const { pairing_id, url } = await client.call("pair.begin", {});
  const words = Promise.withResolvers<string>();
  const paired = SoftwarePhone.pair(url, { ...setup, onWords: words.resolve });
  paired.catch(words.reject);
  const [word] = (await words.promise).split(" ");
  let { state } = await client.call("pair.status", { pairing_id, wait_ms: PATIENCE_MS });
  if (state !== "confirm") throw new Error(`The pairing is ${state}, not at its words.`);
  ({ state } = await client.call("pair.confirm", { pairing_id, word: word! }));
  const phone = await paired;
  while (state !== "done") {
    if (state === "failed") throw new Error("The pairing failed.");
    ({ state } = await client.call("pair.status", { pairing_id, wait_ms: 1_000 }));
  }
  return phone;
}
