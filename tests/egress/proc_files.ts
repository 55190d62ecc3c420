/** What the system says of a process. Deno lets only a process with all permissions read /proc, so a shell reads it. */

import { launchProgram } from "@custos/tools/launch";

/** Whether there is a /proc to read. */
export const HAS_PROC: boolean = Deno.build.os === "linux";

/** The text of a file in `/proc/<pid>/`. */
export async function procText(pid: number, name: string): Promise<string> {
  return await shell(`cat "/proc/$1/$2"`, pid, name);
}

/** The sockets that a process holds, by inode. */
export async function socketInodes(pid: number): Promise<string[]> {
  const links = await shell('for link in "/proc/$1/$2"/*; do readlink "$link"; done', pid, "fd");
  return [...links.matchAll(/^socket:\[(\d+)\]$/gm)].map(([, inode]) => inode!);
}

/** Resident memory of a process in bytes. */
export async function residentBytes(pid: number): Promise<number> {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(await procText(pid, "status"))?.[1];
  if (kib === undefined) throw new Error("The system does not say how much memory the process has.");
  return Number(kib) * 1024;
}

async function shell(script: string, pid: number, name: string): Promise<string> {
  const child = launchProgram("bash", {
    args: ["-c", script, "bash", String(pid), name],
    stdout: "piped",
    stderr: "null",
  });
  if (child === null) throw new Error("The program `bash` is needed for this test, and may not be run here.");
  return new TextDecoder().decode((await child.output()).stdout);
}
