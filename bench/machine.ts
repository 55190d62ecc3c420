/** On what a run was made. */

import { Kernel } from "./memory.ts";
import { outputOf } from "./processes.ts";

/** The machine and the versions of what was measured. */
export interface Machine {
  date: string;
  cores: number;
  cpu: string;
  system: string;
  deno: string;
  /** Other programs with their versions; those that are missing are absent. */
  programs: Record<string, string>;
  /** Mean number of runnable processes in the last minute, before the run: above about 0.5 something else was running. */
  load: number | null;
}

/** What this machine says of itself. */
export async function machineOf(): Promise<Machine> {
  await using kernel = new Kernel();
  const cpu = /^model name\s*:\s*(.+)$/m.exec(await kernel.file("cpuinfo") ?? "")?.[1] ?? Deno.build.arch;
  const load = Number((await kernel.file("loadavg"))?.split(" ")[0] ?? NaN);
  const programs: Record<string, string> = {};
  for (const [name, flag] of [["nginx", "-v"], ["mitmdump", "--version"], ["wrk", "-v"]] as const) {
    const version = await versionOf(name, flag);
    if (version !== null) programs[name] = version;
  }
  return {
    date: new Date().toISOString().slice(0, 16).replace("T", " "),
    cores: navigator.hardwareConcurrency,
    cpu,
    system: `${Deno.build.os} ${Deno.build.arch}`,
    deno: Deno.version.deno,
    programs,
    load: Number.isNaN(load) ? null : load,
  };
}

async function versionOf(name: string, flag: string): Promise<string | null> {
  const output = await outputOf(name, [flag], true);
  return output === null ? null : /\d+\.\d+(?:\.\d+)*/.exec(output)?.[0] ?? "unknown";
}
