/**
 * Flags have one source. Fails where `docs/permissions.md`, the golden lists or the tasks in `deno.json` say something
 * else than `permissions.ts` and `tasks.ts`. With `--write` it makes document and lists anew.
 */
import { readIfThere } from "./files.ts";
import { report } from "./findings.ts";
import { compareGolden, writeGolden } from "./golden.ts";
import { ROOT } from "./launch.ts";
import { PARTS } from "./permissions.ts";
import { goldenFlags, permissionsDoc } from "./permissions_doc.ts";
import { TASKS } from "./tasks.ts";

const WIDE = /^(-A|--allow-(all|run|ffi|sys|import)(=|$)|--allow-(read|write|env)$)/;

/** The files that are made from the permission data: path from the top and content. */
export async function permissionFiles(): Promise<Map<string, string>> {
  const files = new Map<string, string>([["docs/permissions.md", await permissionsDoc()]]);
  for (const [name, text] of goldenFlags()) files.set(`_tools/golden/${name}`, text);
  return files;
}

/** Everything in which the checkout at `root` differs from the permission data. */
export async function checkPermissions(root: string): Promise<string[]> {
  const absent = Object.values(PARTS).map((part) => part.module)
    .filter((module) => readIfThere(`${root}/${module}`) === null)
    .map((module) => `_tools/permissions.ts names ${module}, which is not there`);
  return [
    ...absent,
    ...compareGolden(root, await permissionFiles()),
    ...wideFlags(goldenFlags()),
    ...taskDifferences(root),
  ];
}

/** Flags that no part may have, whatever the data says (DESIGN §3). Only the daemon has a bare `--allow-net`. */
export function wideFlags(lists: ReadonlyMap<string, string>): string[] {
  const findings: string[] = [];
  for (const [name, text] of lists) {
    const flags = text.trimEnd().split("\n");
    if (flags[0] !== "--no-prompt") findings.push(`${name}: --no-prompt is missing`);
    for (const flag of flags) {
      const bare_net = flag === "--allow-net" && !name.startsWith("daemon.");
      if (WIDE.test(flag) || bare_net) findings.push(`${name}: ${flag} is wider than any part may have`);
    }
    if (flags.includes("--allow-net") && !flags.some((flag) => flag.startsWith("--deny-net="))) {
      findings.push(`${name}: a bare --allow-net without a deny list`);
    }
  }
  return findings;
}

function taskDifferences(root: string): string[] {
  const text = readIfThere(`${root}/deno.json`);
  const tasks = text === null ? {} : (JSON.parse(text) as { tasks?: Record<string, unknown> }).tasks ?? {};
  const findings: string[] = [];
  for (const name of new Set([...Object.keys(TASKS), ...Object.keys(tasks)])) {
    if (tasks[name] === TASKS[name]) continue;
    if (TASKS[name] === undefined) findings.push(`deno.json: task ${name} is not in _tools/tasks.ts`);
    else findings.push(`deno.json: task ${name} must be: ${TASKS[name]}`);
  }
  return findings;
}

if (import.meta.main) {
  if (Deno.args.includes("--write")) writeGolden(ROOT, await permissionFiles());
  Deno.exit(report("permissions", await checkPermissions(ROOT)));
}
