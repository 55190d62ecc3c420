/**
 * `deno task bench [--json] [--write] [--seconds N] [--rounds N] [NAMES…]`: measures custos against the bars of DESIGN §15, beside
 * nginx and mitmproxy where they are installed. Without names everything runs, which takes about ten minutes.
 *
 * `--json` prints one JSON document on stdout; else a table. `--write` also writes `docs/bench.md` and `docs/bench.svg`. Exit code 1
 * where a scenario could not be measured; a bar that is not met is said, and is not an error.
 */

import { parseArgs } from "node:util";
import { denoOutput, ROOT } from "../_tools/launch.ts";
import { complain, say } from "../_tools/say.ts";
import { machineOf } from "./machine.ts";
import { MissingProgram } from "./peers.ts";
import { plot } from "./plot.ts";
import { asMarkdown, asText, type Report } from "./report.ts";
import type { Outcome, Scenario, Settings } from "./scenario.ts";
import { approval } from "./scenarios/approval.ts";
import { cells } from "./scenarios/cells.ts";
import { coldStart } from "./scenarios/cold_start.ts";
import { bigDownload } from "./scenarios/download.ts";
import { growth } from "./scenarios/growth.ts";
import { mcp } from "./scenarios/mcp.ts";
import { bodies, get, post } from "./scenarios/proxies.ts";
import { relay } from "./scenarios/relay.ts";
import { scrubbing } from "./scenarios/scrubbing.ts";

const SCENARIOS: readonly Scenario[] = [
  post, // first: it needs free ports, which the others leave in use for a minute
  get,
  bodies,
  bigDownload,
  scrubbing,
  growth,
  coldStart,
  mcp,
  cells,
  approval,
  relay,
];

/** Runs one scenario in a folder of its own. One that lacks a program says so, and the others go on. */
async function measure(
  scenario: Scenario,
  settings: Omit<Settings, "folder">,
): Promise<Outcome & { failed: boolean }> {
  const folder = await Deno.makeTempDir({ prefix: "custos-bench-" });
  try {
    return { ...await scenario.run({ ...settings, folder }), failed: false };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (!(error instanceof MissingProgram)) {
      complain(`${scenario.name}: ${error instanceof Error ? error.stack : why}`);
    }
    return { figures: [], notes: [`not measured: ${why}`], failed: true };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: "boolean" },
      write: { type: "boolean" },
      seconds: { type: "string", default: "3" },
      rounds: { type: "string", default: "3" },
    },
  });
  const numbers = { seconds: Number(values.seconds), rounds: Number(values.rounds) };
  const unknown = positionals.filter((name) => SCENARIOS.every((scenario) => scenario.name !== name));
  if (unknown.length > 0 || !Object.values(numbers).every((n) => Number.isInteger(n) && n >= 1 && n <= 60)) {
    complain(
      `usage: bench [--json] [--write] [--seconds N] [--rounds N] [${
        SCENARIOS.map(({ name }) => name).join(" ")
      }]`,
    );
    return 2;
  }
  const report: Report = { machine: await machineOf(), ...numbers, scenarios: [] };
  let failed = false;
  for (const scenario of SCENARIOS) {
    if (positionals.length > 0 && !positionals.includes(scenario.name)) continue;
    complain(`${scenario.name} …`);
    const outcome = await measure(scenario, { ...numbers, tell: (line) => complain(`  ${line}`) });
    failed ||= outcome.failed;
    report.scenarios.push({
      name: scenario.name,
      method: scenario.method,
      figures: outcome.figures,
      notes: outcome.notes,
    });
  }
  say(values.json === true ? JSON.stringify(report, null, 2) : asText(report));
  if (values.write === true) {
    await Deno.writeTextFile(`${ROOT}/docs/bench.md`, asMarkdown(report));
    await Deno.writeTextFile(`${ROOT}/docs/bench.svg`, plot(report));
    await denoOutput(["fmt", "--quiet", `${ROOT}/docs/bench.md`, `${ROOT}/docs/bench.svg`]);
  }
  return failed ? 1 : 0;
}

Deno.exit(await main(Deno.args));
