/** Relay and daemon as the tests start them: as `deno task start` does, each under its declared flags. */

import { commandLine, runDeno } from "@custos/tools/launch";
import type { Values } from "@custos/tools/permissions";
import { Server } from "./harness_process.ts";

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
