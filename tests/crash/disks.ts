/** Daemons on bad disks: through `bash`, which can set limits and mounts for what it starts. */

import { launchProgram } from "@custos/tools/launch";
import { Server } from "../e2e/harness_process.ts";
import type { Stage } from "../relay_malice/stage.ts";

/** What Deno needs to find its caches. */
function loaderEnv(): Record<string, string> {
  const found: Record<string, string> = { DENO_NO_UPDATE_CHECK: "1" };
  for (const name of ["DENO_DIR", "XDG_CACHE_HOME"]) {
    const value = Deno.env.get(name);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** Starts bash with a script; `"$@"` in it is the daemon's whole command. */
function bash(stage: Stage, script: string): Deno.ChildProcess {
  const args = ["-c", script, "bash", Deno.execPath(), ...stage.daemonCommand];
  const child = launchProgram("bash", { args, env: loaderEnv(), stdout: "piped", stderr: "piped" });
  if (child === null) throw new Error("bash is not installed.");
  return child;
}

/**
 * Starts the daemon where no file can grow beyond so many KiB, which is how a full disk looks to it: a write fails, and what
 * was written before stays.
 */
export async function startOnFullDisk(stage: Stage, kib: number): Promise<void> {
  stage.process = bash(stage, `trap '' XFSZ; ulimit -f ${kib}; exec "$@"`);
  stage.daemon = await Server.of("daemon", stage.process);
}

/** Runs the daemon where its state folder cannot be written, until it ends. */
export async function runOnReadOnlyDisk(stage: Stage): Promise<{ code: number; stderr: string }> {
  const folder = stage.values.daemon_dir;
  const readOnly =
    `mount --bind '${folder}' '${folder}' && mount -o remount,ro,bind '${folder}' && exec "$@"`;
  // Where no mount is possible, nothing can be written at all, which comes to the same.
  const script =
    `if unshare -rm true 2>/dev/null; then exec unshare -rm bash -c ${quoted(readOnly)} bash "$@"; fi; ` +
    `trap '' XFSZ; ulimit -f 0; exec "$@"`;
  const { code, stderr } = await bash(stage, script).output();
  return { code, stderr: new TextDecoder().decode(stderr) };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
