/**
 * What is copied to be installed: the modules that the parts import and nothing else, their npm packages, and a lock file
 * that names only these. Nothing is downloaded when a part runs (B190), and a checkout that changes or moves away changes
 * nothing that was installed.
 */
import { dirname, join } from "node:path";
import { denoOutput } from "../launch.ts";
import { MEMBERS } from "../members.ts";
import { type Graph, moduleGraph } from "../module_graph.ts";
import { PARTS } from "../permissions.ts";
import { COMMANDS } from "./shims.ts";

/** One copy, not written yet. */
export interface Image {
  /** `<version>-<first 12 digits of the SHA-256 of all that is below>`. */
  readonly id: string;
  /** Source files by path, as they are. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** npm packages as `name@version`. */
  readonly packages: readonly string[];
  /** Deno's folder of npm packages, from which they are copied. */
  readonly npm_cache: string;
  /**
   * Packages are kept under this name wherever they came from, and the copy's own `.npmrc` says so: a registry in
   * somebody's `~/.npmrc` must not make Deno look for them elsewhere.
   */
  readonly registry: string;
}

interface Lock {
  specifiers: Record<string, string>;
  npm: Record<string, unknown>;
  workspace: { dependencies: string[] };
}

/** Reads the checkout at `root`. Downloads what is missing, with the caller's own settings for proxy and registry. */
export async function readImage(root: string): Promise<Image> {
  const entries = Object.values(COMMANDS).map((part) => PARTS[part].module);
  await run(root, ["install", "--frozen", "--entrypoint", ...entries.map((path) => join(root, path))]);
  const graph = await moduleGraph(root, entries);
  if (graph.errors.length > 0) throw new RangeError(`The checkout is not whole.\n${graph.errors.join("\n")}`);
  const files = new Map<string, Uint8Array>();
  for (
    const path of [...graph.files.keys(), ...MEMBERS.map((name) => `${name}/deno.json`), "LICENSE"].sort()
  ) {
    files.set(path, await Deno.readFile(join(root, path)));
  }
  const { config, lock } = trimmed(root, graph);
  files.set("deno.json", encode(config));
  files.set("deno.lock", encode(lock));
  const info = JSON.parse(await run(root, ["info", "--json"])) as { npmCache: string };
  const registry = registryOf(info.npmCache, graph.npm);
  files.set(".npmrc", new TextEncoder().encode(npmrc(graph.npm, registry)));
  const version = JSON.parse(new TextDecoder().decode(files.get("cli/deno.json"))).version as string;
  return {
    id: `${version}-${await digest(files)}`,
    files,
    packages: graph.npm,
    npm_cache: info.npmCache,
    registry,
  };
}

/** Writes the copy into a folder that is not there yet. */
export async function writeImage(image: Image, code: string, cache: string): Promise<void> {
  for (const [path, bytes] of image.files) {
    const target = join(code, path);
    await Deno.mkdir(dirname(target), { recursive: true });
    await Deno.writeFile(target, bytes);
  }
  for (const registry of Deno.readDirSync(image.npm_cache)) {
    if (!registry.isDirectory) continue;
    for (const name of image.packages) {
      const [folder, version] = splitPackage(name);
      const from = join(image.npm_cache, registry.name, folder, version);
      if (exists(from)) await copyTree(from, join(cache, "npm", image.registry, folder, version));
    }
  }
  // Others may run it (`--own-user`); nobody but the owner may change it, whatever the umask was.
  await openToReaders(dirname(code));
}

/** The registry under which Deno keeps most of the packages: its folders are named after the hosts. */
function registryOf(npm_cache: string, packages: readonly string[]): string {
  const held = [...Deno.readDirSync(npm_cache)].filter((entry) => entry.isDirectory).map(({ name }) => {
    const count = packages.filter((one) => exists(join(npm_cache, name, ...splitPackage(one)))).length;
    return { name, count };
  }).sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  if (held[0] === undefined) throw new RangeError("Deno has no folder of npm packages. Run: deno task start");
  return held[0].name;
}

function npmrc(packages: readonly string[], registry: string): string {
  const scopes = packages.filter((name) => name.startsWith("@")).map((name) =>
    name.slice(0, name.indexOf("/"))
  );
  const names = ["", ...[...new Set(scopes)].sort().map((scope) => `${scope}:`)];
  return names.map((name) => `${name}registry=https://${registry}/\n`).join("");
}

/** The configuration and the lock file, cut down to what the parts import. */
function trimmed(root: string, graph: Graph): { config: object; lock: object } {
  const config = JSON.parse(Deno.readTextFileSync(join(root, "deno.json"))) as {
    imports: Record<string, string>;
    unstable: string[];
  };
  const lock = JSON.parse(Deno.readTextFileSync(join(root, "deno.lock"))) as Lock;
  const targets = [...graph.files.values()].flat().map(({ target }) => target ?? "");
  const imported = (specifier: string) => {
    const name = specifier.replace(/^npm:/, "");
    return targets.some((target) => {
      const wanted = target.replace(/^npm:\/?/, "");
      return wanted === name || wanted.startsWith(`${name}/`);
    });
  };
  const imports = pick(config.imports, (_name, target) => imported(target));
  const kept = new Set(Object.values(imports));
  return {
    config: {
      workspace: MEMBERS.map((name) => `./${name}`),
      imports,
      unstable: config.unstable,
      lock: true,
    },
    lock: {
      ...lock,
      specifiers: pick(lock.specifiers, (name) => kept.has(name)),
      npm: pick(lock.npm, (name) => graph.npm.some((item) => name === item || name.startsWith(`${item}_`))),
      workspace: { dependencies: lock.workspace.dependencies.filter((name) => kept.has(name)) },
    },
  };
}

function pick<T>(from: Record<string, T>, keep: (name: string, value: T) => boolean): Record<string, T> {
  return Object.fromEntries(Object.entries(from).filter(([name, value]) => keep(name, value)));
}

function encode(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value, null, 2) + "\n");
}

async function digest(files: ReadonlyMap<string, Uint8Array>): Promise<string> {
  const list = [];
  for (const [path, bytes] of files) list.push(`${await sha256(bytes)} ${path}\n`);
  return (await sha256(new TextEncoder().encode(list.sort().join("")))).slice(0, 12);
}

async function sha256(bytes: Uint8Array): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(bytes))).toHex();
}

async function run(root: string, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await denoOutput(args, { cwd: root });
  if (code !== 0) throw new RangeError(`deno ${args[0]} failed.\n${stderr.trimEnd()}`);
  return stdout;
}

function splitPackage(name: string): [string, string] {
  const at = name.lastIndexOf("@");
  return [name.slice(0, at), name.slice(at + 1)];
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

async function copyTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for (const entry of Deno.readDirSync(from)) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory) await copyTree(source, target);
    else if (entry.isFile) await Deno.copyFile(source, target);
  }
}

async function openToReaders(folder: string): Promise<void> {
  await Deno.chmod(folder, 0o755);
  for (const entry of Deno.readDirSync(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) await openToReaders(path);
    else await Deno.chmod(path, 0o644);
  }
}
