/**
 * A daemon whose machine knows names of its own: in a mount namespace with another hosts file, so that a name can point
 * where a test says, and no resolver is asked. Made by `unshare` (util-linux); Linux only.
 */

import { commandLine, launchProgram, ROOT } from "@custos/tools/launch";
import type { Values } from "@custos/tools/permissions";
import { daemonArgs } from "../e2e/harness_parts.ts";
import { Server } from "../e2e/harness_process.ts";

const SCRIPT = 'mount --bind "$1" /etc/hosts && shift && exec "$@"';

/** Starts a daemon that reads `hosts` in place of /etc/hosts; the file may change while it runs. */
export async function daemonWithHosts(values: Values, relay_url: string, hosts: string): Promise<Server> {
  const command = [Deno.execPath(), ...commandLine("daemon", values, daemonArgs(values, relay_url))];
  const cache = Deno.env.get("DENO_DIR");
  const child = launchProgram("unshare", {
    args: ["-rm", "sh", "-c", SCRIPT, "sh", hosts, ...command],
    cwd: ROOT,
    env: { DENO_NO_UPDATE_CHECK: "1", ...(cache === undefined ? {} : { DENO_DIR: cache }) },
    stdout: "piped",
    stderr: "piped",
  });
  if (child === null) {
    throw new Error("The program `unshare` is needed for this test, and may not be run here.");
  }
  return await Server.of("daemon", child);
}

/** Whether this machine lets a user have such a namespace: some containers and kernels do not. */
export async function canUnshare(): Promise<boolean> {
  const child = launchProgram("unshare", {
    args: ["-rm", "true"],
    stdout: "null",
    stderr: "null",
  });
  return child !== null && (await child.status).success;
}
