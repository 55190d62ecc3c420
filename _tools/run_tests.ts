/**
 * `deno task test [paths or options of deno test]`: runs the tests, says what was not run and why, and ends with the line
 * `N passed, N failed`. Exit code: that of `deno test`; 1 also where everything is required and something was not run.
 *
 * `CI=true` or `CUSTOS_REQUIRE_ALL=1` requires everything. `CI=true` also freezes the lock file.
 */
import { join } from "node:path";
import { readIfThere } from "./files.ts";
import { findChromium } from "./find_chromium.ts";
import { countJunit, type Counts } from "./junit.ts";
import { follow, runDeno } from "./launch.ts";
import { complain, say } from "./say.ts";
import { PROGRAMS, testFlags } from "./tool_flags.ts";

/** A run that takes longer hangs: it is ended and has failed. All tests take a few minutes on two cores. */
const LIMIT_MINUTES = 30;

/** Exit code and last lines of a run. */
export interface Verdict {
  readonly code: number;
  readonly lines: readonly string[];
}

/** What to say and how to end, from the exit code of `deno test`, its counts, and the programs that are not installed. */
export function verdict(
  code: number,
  counts: Counts,
  absent: readonly string[],
  require_all: boolean,
): Verdict {
  const lines: string[] = [];
  if (absent.length > 0) lines.push(`Not installed here: ${absent.join(", ")}.`);
  for (const name of counts.ignored) lines.push(`Not run: ${name}`);
  let failed = counts.failed;
  if (require_all && counts.ignored.length > 0) {
    lines.push("Everything is required here, so a test that was not run counts as failed.");
    failed += counts.ignored.length;
  }
  // An error outside a test is in no count: a run that failed never says "0 failed".
  if (code !== 0 && failed === 0) failed = 1;
  // Nothing ran: a wrong path or filter must not look like success.
  if (code === 0 && failed === 0 && counts.passed === 0) {
    lines.push("No test was run.");
    return { code: 1, lines: [...lines, "0 passed, 0 failed"] };
  }
  lines.push(`${counts.passed} passed, ${failed} failed`);
  return { code: code === 0 && failed > 0 ? 1 : code, lines };
}

/** The programs of the list that are on this machine's PATH. */
export function installed(programs: readonly string[], path: string): string[] {
  return programs.filter((name) =>
    path.split(":").some((folder) => folder !== "" && isFile(join(folder, name)))
  );
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

async function main(args: readonly string[]): Promise<number> {
  const require_all = Deno.env.get("CI") === "true" || Deno.env.get("CUSTOS_REQUIRE_ALL") === "1";
  const found = installed(PROGRAMS, Deno.env.get("PATH") ?? "");
  // No test may meet the custos of the person who runs it.
  for (const name of Object.keys(Deno.env.toObject())) if (name.startsWith("CUSTOS_")) Deno.env.delete(name);
  const folder = await Deno.makeTempDir();
  try {
    const junit = join(folder, "junit.xml");
    const frozen = Deno.env.get("CI") === "true" ? ["--frozen"] : [];
    const chromium = await findChromium(found, folder, complain);
    const programs = [
      ...found.filter((name) => name !== "chromium"),
      ...(chromium === null ? [] : [chromium]),
    ];
    const child = runDeno(["test", ...testFlags(programs), ...frozen, `--junit-path=${junit}`, ...args], {
      // A proxy for downloads must not stand between tests and loopback.
      env: {
        NO_PROXY: "127.0.0.1,localhost",
        no_proxy: "127.0.0.1,localhost",
        ...(chromium === null ? {} : { CHROME_PATH: chromium }),
      },
    });
    const limit = setTimeout(() => {
      complain(`The tests did not end after ${LIMIT_MINUTES} minutes. The last one named above hangs.`);
      child.kill("SIGKILL");
    }, LIMIT_MINUTES * 60_000);
    const code = await follow(child);
    clearTimeout(limit);
    const absent = PROGRAMS.filter((name) => name === "chromium" ? chromium === null : !found.includes(name));
    const { code: end, lines } = verdict(code, countJunit(readIfThere(junit) ?? ""), absent, require_all);
    for (const line of lines) say(line);
    return end;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
