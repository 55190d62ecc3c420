/** Which Deno an installation uses: one that will still be there tomorrow. */
import { dirname, join } from "node:path";

/** A Deno, and whether it must be copied first, with the reason. */
export interface ChosenDeno {
  /** Absolute path that the scripts name. */
  readonly path: string;
  /** Where it is copied from; null: it is used where it is. */
  readonly copy_from: string | null;
  readonly why: string;
}

/**
 * Why this path may be gone tomorrow, or null. `npx` keeps programs in a cache that it empties by itself; a folder
 * `node_modules` of a project goes with the project. A global one (`…/lib/node_modules`) stays.
 */
export function whyItMayGo(path: string): string | null {
  if (path.includes("/_npx/")) return "it is in the cache of npx, which npm empties by itself";
  if (/^(\/private)?\/(tmp|var\/tmp|var\/folders)\//.test(path)) {
    return "it is in a folder for temporary files";
  }
  if (/\/node_modules\//.test(path) && !/\/lib\/node_modules\//.test(path)) {
    return "it belongs to the node_modules of a project";
  }
  return null;
}

/** The Deno for an installation below `lib`: the running one where it stays, else a copy of it. */
export function chooseDeno(lib: string, running: string, version: string, copy: boolean): ChosenDeno {
  const own = join(lib, `deno-${version}`, "deno");
  if (running === own) return { path: own, copy_from: null, why: "it is this installation's own" };
  const goes = whyItMayGo(running);
  if (goes !== null) {
    return { path: own, copy_from: running, why: `${running} is not used where it is: ${goes}` };
  }
  if (copy) return { path: own, copy_from: running, why: "a copy was asked for" };
  return { path: running, copy_from: null, why: "it is used where it is" };
}

/** Copies it, unless a copy of the same size is there. */
export async function provideDeno({ path, copy_from }: ChosenDeno): Promise<void> {
  if (copy_from === null) return;
  if (sizeOf(path) === sizeOf(copy_from)) return;
  await Deno.mkdir(dirname(path), { recursive: true });
  // Renamed into place: a copy that was cut off must not be taken for a whole one.
  const fresh = `${path}.new`;
  await Deno.copyFile(copy_from, fresh);
  await Deno.chmod(fresh, 0o755);
  await Deno.rename(fresh, path);
}

function sizeOf(path: string): number | null {
  try {
    return Deno.statSync(path).size;
  } catch {
    return null;
  }
}
