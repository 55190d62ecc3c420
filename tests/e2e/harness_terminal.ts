/**
 * A command under a controlling terminal of its own, with stdout and stderr in files: what `custos` shows the person there
 * is in neither. The terminal is made by `script` (util-linux, or macOS's own), which every such machine has; without it
 * these tests fail.
 */

import { commandLine, launchProgram, ROOT } from "@custos/tools/launch";
import type { Values } from "@custos/tools/permissions";

/** What a command under a terminal wrote, and where. */
export interface TerminalRun {
  code: number;
  terminal: string;
  stdout: string;
  stderr: string;
}

/** Runs `custos` with these arguments under a terminal. `folder` takes the two files. */
export async function custosAtTerminal(
  values: Values,
  agent: string,
  args: readonly string[],
  folder: string,
): Promise<TerminalRun> {
  const [stdout, stderr] = [`${folder}/stdout`, `${folder}/stderr`];
  const words = [Deno.execPath(), ...commandLine("cli", values, args)].map(quoted).join(" ");
  const command = `${words} >${quoted(stdout)} 2>${quoted(stderr)}`;
  const mac = ["-q", "/dev/null", "sh", "-c", command];
  const linux = ["--quiet", "--return", "--command", command, "/dev/null"];
  const cache = Deno.env.get("DENO_DIR");
  const child = launchProgram("script", {
    args: Deno.build.os === "darwin" ? mac : linux,
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    env: {
      ...(cache === undefined ? {} : { DENO_DIR: cache }),
      CUSTOS_SOCKET: values.socket,
      CUSTOS_AGENT: agent,
      SHELL: "/bin/sh",
      TERM: "xterm",
    },
  });
  if (child === null) {
    throw new Error("The program `script` is needed for this test, and may not be run here.");
  }
  const { code, stdout: terminal } = await child.output();
  return {
    code,
    terminal: new TextDecoder().decode(terminal),
    stdout: await Deno.readTextFile(stdout),
    stderr: await Deno.readTextFile(stderr),
  };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
