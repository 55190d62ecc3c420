/** The module graph as the runtime itself resolves it (`deno info --json`), for the checks of layers and dependencies. */
import { pathToFileURL } from "node:url";
import { denoOutput } from "./launch.ts";

/** One import: what the source says and what it resolves to. */
export interface Import {
  readonly specifier: string;
  /** Path from the top for a file of the checkout, else a `node:`, `npm:` or `https:` specifier; null if unresolved. */
  readonly target: string | null;
  readonly line: number;
}

/** The files of a checkout with their imports, and the npm packages (`name@version`) behind them. */
export interface Graph {
  readonly files: ReadonlyMap<string, readonly Import[]>;
  readonly npm: readonly string[];
  /** Files that could not be read or parsed, with the reason. */
  readonly errors: readonly string[];
}

interface InfoResolution {
  specifier?: string;
  span?: { start: { line: number } };
}

interface InfoModule {
  specifier: string;
  local?: string;
  error?: string;
  npmPackage?: string;
  dependencies?: { specifier: string; code?: InfoResolution; type?: InfoResolution }[];
}

interface Info {
  modules: InfoModule[];
  /** Every package of the lock file, not only those that are imported. */
  npmPackages?: Record<string, { name: string; version: string; dependencies: string[] }>;
}

/** Resolves `files` (paths from `root`) and everything that they import, in one run of `deno info`. */
export async function moduleGraph(root: string, files: readonly string[]): Promise<Graph> {
  const folder = await Deno.makeTempDir();
  try {
    const all = `${folder}/all.ts`;
    const urls = files.map((file) => pathToFileURL(`${root}/${file}`).href);
    await Deno.writeTextFile(all, urls.map((url) => `import ${JSON.stringify(url)};`).join("\n"));
    const { code, stdout, stderr } = await denoOutput([
      "info",
      "--json",
      "--config",
      `${root}/deno.json`,
      all,
    ], { cwd: root });
    if (code !== 0) throw new Error(`deno info failed: ${stderr}`);
    return toGraph(JSON.parse(stdout) as Info, pathToFileURL(`${root}/`).href, pathToFileURL(all).href);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function toGraph(info: Info, base: string, entry: string): Graph {
  const local = (url: string) => url.startsWith(base) ? decodeURIComponent(url.slice(base.length)) : url;
  const files = new Map<string, Import[]>();
  const errors: string[] = [];
  for (const module of info.modules) {
    if (module.specifier === entry || !module.specifier.startsWith(base)) continue;
    const path = local(module.specifier);
    if (module.error !== undefined) errors.push(`${path}: ${module.error.split("\n")[0]}`);
    files.set(
      path,
      (module.dependencies ?? []).map((dependency) => {
        const resolved = dependency.code ?? dependency.type;
        const target = resolved?.specifier;
        return {
          specifier: dependency.specifier,
          target: target === undefined ? null : local(target),
          line: (resolved?.span?.start.line ?? 0) + 1,
        };
      }),
    );
  }
  return { files, npm: reachable(info), errors };
}

/** The packages that the modules import, and those that they need in turn. */
function reachable(info: Info): string[] {
  const names = new Set<string>();
  const open = info.modules.map((module) => module.npmPackage).filter((key) => key !== undefined);
  const seen = new Set(open);
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    const found = info.npmPackages?.[key];
    if (found === undefined) continue;
    names.add(`${found.name}@${found.version}`);
    for (const next of found.dependencies) {
      if (!seen.has(next)) open.push(next);
      seen.add(next);
    }
  }
  return [...names].sort();
}
