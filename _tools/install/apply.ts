/** Writing and removing what is installed. Whatever is not ours is left alone. */
import { dirname, join } from "node:path";
import { readIfThere } from "../files.ts";
import { binFolder, isOurs } from "./shims.ts";

/** What `lib/custos/installed.json` says. */
export interface Installed {
  readonly format: 1;
  /** The build that the scripts start. */
  readonly build: string;
  /** The one before it: a daemon that still runs may load from it. */
  readonly previous: string | null;
  /** Names of the scripts. */
  readonly scripts: readonly string[];
  readonly state: string;
  readonly socket: string;
}

/** The folder below the prefix that holds everything but the scripts. */
export function libFolder(prefix: string): string {
  return join(prefix, "lib", "custos");
}

/** What is installed below the prefix, or null. Throws `RangeError` where the record is damaged. */
export function readInstalled(prefix: string): Installed | null {
  const path = join(libFolder(prefix), "installed.json");
  const text = readIfThere(path);
  if (text === null) return null;
  try {
    const found = JSON.parse(text) as Installed;
    if (found.format === 1 && Array.isArray(found.scripts)) return found;
  } catch {
    // said below
  }
  throw new RangeError(`${path} cannot be read. Remove ${libFolder(prefix)} by hand, then install again.`);
}

/** The scripts that are in the way because something else put them there. */
export function foreignScripts(prefix: string, names: Iterable<string>): string[] {
  return [...names].map((name) => join(binFolder(prefix), name)).filter((path) => {
    const kind = kindOf(path);
    return kind === "other" || kind === "folder" || (kind === "file" && !isOurs(readStart(path)));
  });
}

/** Whether every script is there as it should be. */
export function unchanged(prefix: string, scripts: ReadonlyMap<string, string>): boolean {
  return [...scripts].every(([name, text]) => readIfThere(join(binFolder(prefix), name)) === text);
}

/** Writes the scripts, each in one step, and removes those of an earlier build that are no longer among them. */
export async function writeScripts(
  prefix: string,
  scripts: ReadonlyMap<string, string>,
  before: Installed | null,
): Promise<void> {
  const bin = binFolder(prefix);
  await Deno.mkdir(bin, { recursive: true });
  for (const [name, text] of scripts) {
    const path = join(bin, name);
    const fresh = `${path}.new-${crypto.randomUUID()}`;
    await Deno.writeTextFile(fresh, text, { createNew: true });
    await Deno.chmod(fresh, 0o755);
    await Deno.rename(fresh, path);
  }
  await removeScripts(prefix, (before?.scripts ?? []).filter((name) => !scripts.has(name)));
}

/** Records what is installed, and removes the copies of the code that nothing starts any more. */
export async function record(prefix: string, installed: Installed): Promise<void> {
  const lib = libFolder(prefix);
  const fresh = join(lib, "installed.json.new");
  await Deno.writeTextFile(fresh, JSON.stringify(installed, null, 2) + "\n");
  await Deno.chmod(fresh, 0o644);
  await Deno.rename(fresh, join(lib, "installed.json"));
  for (const entry of Deno.readDirSync(lib)) {
    const kept = [installed.build, installed.previous].includes(entry.name) || entry.name.startsWith("deno-");
    if (entry.isDirectory && !kept) await Deno.remove(join(lib, entry.name), { recursive: true });
  }
}

/** Removes the scripts that are ours, the code, and folders that are then empty. Returns what was left alone. */
export async function removeInstalled(prefix: string, installed: Installed): Promise<string[]> {
  const left = foreignScripts(prefix, installed.scripts);
  await removeScripts(prefix, installed.scripts);
  const lib = libFolder(prefix);
  await Deno.remove(lib, { recursive: true });
  for (const folder of [dirname(lib), binFolder(prefix)]) {
    if (kindOf(folder) === "folder" && [...Deno.readDirSync(folder)].length === 0) await Deno.remove(folder);
  }
  return left;
}

async function removeScripts(prefix: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const path = join(binFolder(prefix), name);
    if (kindOf(path) === "file" && isOurs(readStart(path))) await Deno.remove(path);
  }
}

/** Links are `other`: what they point to is somebody else's. */
function kindOf(path: string): "file" | "folder" | "other" | null {
  try {
    const info = Deno.lstatSync(path);
    return info.isFile ? "file" : info.isDirectory ? "folder" : "other";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** The first bytes of a file, which may be a program and large. */
function readStart(path: string): string {
  using file = Deno.openSync(path);
  const bytes = new Uint8Array(512);
  const count = file.readSync(bytes) ?? 0;
  return new TextDecoder().decode(bytes.subarray(0, count));
}
