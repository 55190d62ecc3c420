/**
 * `deno task ok`: everything that says whether all is well, one row each. All of it runs, also after a failure; what failed
 * is listed below the table. `--static` leaves out the tests. The last line is `N passed, N failed`.
 */
import { checkBundles } from "./check_bundles.ts";
import { checkDocs } from "./check_docs.ts";
import { checkLayers } from "./check_layers.ts";
import { checkPermissions } from "./check_permissions.ts";
import { checkPublish } from "./check_publish.ts";
import { publicFiles } from "./check_public.ts";
import { checkSizes } from "./check_sizes.ts";
import { docConfig } from "./doc_config.ts";
import { isSource, isTest, readIfThere, walk, zoneOf } from "./files.ts";
import { compareGolden } from "./golden.ts";
import { denoOutput, ROOT } from "./launch.ts";
import { MEMBERS } from "./members.ts";
import { say } from "./say.ts";

/** A check: its name, and what it found. Nothing found is a pass. */
export interface Step {
  readonly name: string;
  readonly run: () => Promise<readonly string[]> | readonly string[];
}

/** A Deno command as a check: it passes with exit code 0, and else shows what it wrote. */
function command(name: string, args: readonly string[], lines = 60): Step {
  return {
    name,
    run: async () => {
      const { code, stdout, stderr } = await denoOutput(args, { cwd: ROOT, env: { NO_COLOR: "1" } });
      return code === 0 ? [] : [`${stdout}${stderr}`.trimEnd().split("\n").slice(-lines).join("\n")];
    },
  };
}

/** Runs the examples in doc comments, without any permission. */
async function docTests(): Promise<readonly string[]> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/deno.json`, docConfig(ROOT));
    const args = ["test", "--doc", "--quiet", "--no-prompt", "--config", `${folder}/deno.json`];
    return await command("doc tests", [...args, ...documented()]).run();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Source files of members whose comments hold examples. */
function documented(): string[] {
  const members: readonly string[] = MEMBERS;
  return walk(ROOT).filter((path) =>
    isSource(path) && !isTest(path) && members.includes(zoneOf(path)) &&
    readIfThere(`${ROOT}/${path}`)?.includes(" * ```") === true
  );
}

function steps(): Step[] {
  const tools = ["run", "--no-prompt", "--allow-run=deno", "--allow-read", "--allow-write", "--allow-env"];
  return [
    command("fmt", ["fmt", "--check"]),
    command("lint", ["lint"]),
    command("types", ["check", "--quiet", "--frozen", "."]),
    { name: "layers", run: () => checkLayers(ROOT) },
    { name: "sizes", run: () => checkSizes(ROOT) },
    { name: "docs", run: () => checkDocs(ROOT) },
    { name: "permissions", run: () => checkPermissions(ROOT) },
    { name: "public", run: async () => compareGolden(ROOT, await publicFiles(ROOT)) },
    { name: "bundles", run: () => checkBundles(ROOT) },
    { name: "doc tests", run: docTests },
    { name: "publish", run: () => checkPublish(ROOT) },
    command("tests", [...tools, "_tools/run_tests.ts"], 200),
  ];
}

/** Runs the steps in turn, a row for each as it ends. Returns the number that failed. */
export async function runSteps(all: readonly Step[], write: (line: string) => void): Promise<number> {
  const failed: { name: string; findings: readonly string[] }[] = [];
  for (const { name, run } of all) {
    const begun = performance.now();
    let findings: readonly string[];
    try {
      findings = await run();
    } catch (error) {
      // A check that breaks has not passed.
      findings = [error instanceof Error ? error.message : String(error)];
    }
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    write(
      `  ${name.padEnd(14)}${(findings.length === 0 ? "pass" : "FAIL").padEnd(6)}${seconds.padStart(7)} s`,
    );
    if (findings.length > 0) failed.push({ name, findings });
  }
  for (const { name, findings } of failed) {
    write(`\n${name}: ${findings.length} to mend`);
    for (const finding of findings) write(`  ${finding.replaceAll("\n", "\n  ")}`);
  }
  write(`\n${all.length - failed.length} passed, ${failed.length} failed`);
  return failed.length;
}

if (import.meta.main) {
  const all = steps().filter(({ name }) => !(Deno.args.includes("--static") && name === "tests"));
  Deno.exit(await runSteps(all, say) === 0 ? 0 : 1);
}
