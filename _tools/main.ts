/**
 * What the tasks call: `main.ts start|custos|mcp|verify-pwa|phone|demo|bench|crash|shots [arguments]`. Exit code 2 for a name that
 * it does not know.
 */
import { follow, ROOT, runDeno } from "./launch.ts";
import { complain } from "./say.ts";
import { demoFlags, PROGRAMS } from "./tool_flags.ts";

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  switch (name) {
    case "start": {
      const { start } = await import("./start.ts");
      return await start(rest);
    }
    case "custos":
    case "mcp": {
      const { runCaller } = await import("./run_part.ts");
      return await runCaller(name === "custos" ? "cli" : "mcp", rest);
    }
    case "verify-pwa": {
      const { runVerify } = await import("./run_part.ts");
      return await runVerify(rest);
    }
    case "phone": {
      const { runPhone } = await import("./run_part.ts");
      return await runPhone(rest);
    }
    case "demo":
      return await runTool("tests/demo/main.ts", [], rest);
    case "bench":
      return await runTool("bench/main.ts", PROGRAMS, rest);
    case "crash":
      return await runTool("tests/crash/main.ts", [], rest);
    case "shots":
      return await (await import("./run_shots.ts")).runShots();
    default:
      complain("usage: main.ts start|custos|mcp|verify-pwa|phone|demo|bench|crash|shots [arguments]");
      return 2;
  }
}

/** Runs a tool of the checkout in the caller's environment: it may start Deno, and reach loopback only. */
async function runTool(
  module: string,
  programs: readonly string[],
  args: readonly string[],
): Promise<number> {
  return await follow(
    runDeno(["run", ...demoFlags(programs), `${ROOT}/${module}`, ...args], { stdin: "inherit" }),
  );
}

try {
  Deno.exit(await main(Deno.args));
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  complain(error.message);
  Deno.exit(2);
}
