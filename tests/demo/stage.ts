/** Everything that the demo starts: `deno task start` in a folder of its own, and a phone to hold. */

import { launch, ROOT, runDeno } from "../../_tools/launch.ts";
import { placesIn } from "../../_tools/paths.ts";
import type { Values } from "../../_tools/permissions.ts";
import { readyLine } from "../../_tools/ready.ts";
import { demoFlags } from "../../_tools/tool_flags.ts";

/** A running stage. */
export interface Stage {
  folder: string;
  values: Values;
  relay: string;
  /** Runs `custos` under its real flags. `stdin` is written and closed. */
  custos(args: readonly string[], options?: CustosOptions): Promise<Ran>;
  stop(): Promise<void>;
}

/** How a command is run. */
export interface CustosOptions {
  /** Called with each line of stdout; what it returns is written to stdin. */
  onLine?: (line: string) => Promise<string | null>;
}

/** A command that has ended. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Starts relay and daemon in a fresh folder, with the `lan` profile, as the hostile API is on loopback. */
export async function startStage(): Promise<Stage> {
  const folder = await Deno.makeTempDir({ prefix: "custos-demo-" });
  const args = [
    "start",
    "--json",
    "--no-pwa",
    "--profile",
    "lan",
    "--relay-port",
    "0",
    "--state",
    folder,
    "--name",
    "demo computer",
  ];
  const main = ["run", ...demoFlags(), `${ROOT}/_tools/main.ts`, ...args];
  const child = runDeno(main, { stdout: "piped" });
  const ready = await readyLine(child, "stage");
  const values = placesIn(folder, { relay_port: 0, profile: "lan" });
  return {
    folder,
    values,
    relay: String(ready["relay"]),
    custos: (args, options) => runCustos(values, args, options),
    async stop() {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function runCustos(
  values: Values,
  args: readonly string[],
  { onLine }: CustosOptions = {},
): Promise<Ran> {
  const env = { CUSTOS_SOCKET: values.socket, CUSTOS_AGENT: "demo-shell" };
  const stdin = onLine === undefined ? "null" : "piped";
  const child = launch("cli", values, { args, env, stdin, stdout: "piped", stderr: "piped" });
  const stderr = new Response(child.stderr).text();
  let stdout = "";
  let rest = "";
  const writer = onLine === undefined ? null : child.stdin.getWriter();
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    stdout += chunk;
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const answer = await onLine?.(line) ?? null;
      if (answer !== null) await writer?.write(new TextEncoder().encode(`${answer}\n`));
    }
  }
  await writer?.close().catch(() => {});
  return { code: (await child.status).code, stdout, stderr: await stderr };
}
