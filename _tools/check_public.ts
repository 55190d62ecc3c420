/**
 * What others can rely on, as golden lists: the names that each member exports, and the files and packages behind each
 * entrypoint. A change of either is a deliberate act that shows as a diff.
 */
import { report } from "./findings.ts";
import { readIfThere } from "./files.ts";
import { compareGolden } from "./golden.ts";
import { denoOutput, ROOT } from "./launch.ts";
import { exportsOf, MEMBERS } from "./members.ts";
import { moduleGraph } from "./module_graph.ts";
import { type PartName, PARTS } from "./permissions.ts";
import { PWA_DIST } from "./pwa_bundle.ts";

interface DocNode {
  name: string;
  kind?: string;
  declarationKind?: string;
  declarations?: { kind: string; declarationKind?: string }[];
}

/** The golden lists as they are now, by path from the top. */
export async function publicFiles(root: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const member of MEMBERS) {
    files.set(`_tools/golden/${member}.exports.txt`, (await exportLines(root, member)).join("\n") + "\n");
  }
  for (const part of Object.keys(PARTS) as PartName[]) {
    files.set(
      `_tools/golden/${part}.graph.txt`,
      (await graphLines(root, PARTS[part].module)).join("\n") + "\n",
    );
  }
  return files;
}

/** The entry points of a member, then the names that its `mod.ts` exports. */
async function exportLines(root: string, member: string): Promise<string[]> {
  const entries = exportsOf(root, member);
  const lines = Object.entries(entries).map(([name, file]) => `entry ${name} ${file}`).sort();
  const file = entries["."];
  if (file === undefined || readIfThere(`${root}/${member}/${file}`) === null) return lines;
  const { code, stdout, stderr } = await denoOutput(["doc", "--json", file], { cwd: `${root}/${member}` });
  if (code !== 0) throw new Error(`deno doc failed for ${member}: ${stderr}`);
  return [...lines, ...[...new Set(symbols(JSON.parse(stdout)).map(symbolLine))].sort()];
}

/** The exported symbols in the output of `deno doc --json`, whose top level is a list of nodes by module. */
function symbols(output: { nodes?: DocNode[] | Record<string, { symbols: DocNode[] }> }): DocNode[] {
  const nodes = output.nodes ?? [];
  return Array.isArray(nodes) ? nodes : Object.values(nodes).flatMap((module) => module.symbols);
}

function symbolLine({ name, kind, declarations }: DocNode): string {
  const kinds = kind === undefined ? (declarations ?? []).map((declaration) => declaration.kind) : [kind];
  return `${[...new Set(kinds)].sort().join("+")} ${name}`;
}

/** Local files, built-in modules and npm packages of an entrypoint. */
async function graphLines(root: string, module: string): Promise<string[]> {
  if (readIfThere(`${root}/${module}`) === null) return [];
  const { files, npm } = await moduleGraph(root, [module]);
  const builtin = new Set(
    [...files.values()].flat().map((item) => item.target ?? "").filter((target) =>
      target.startsWith("node:")
    ),
  );
  // The built phone app is held by the check of the bundles; its names change with every build.
  const local = [...files.keys()].filter((path) => !path.startsWith(`${PWA_DIST}/`)).sort();
  return [...local, ...[...builtin].sort(), ...npm.map((name) => `npm:${name}`)];
}

if (import.meta.main) Deno.exit(report("public", compareGolden(ROOT, await publicFiles(ROOT))));
