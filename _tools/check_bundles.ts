/** Bundles that ship are what their source says: building again gives the same bytes. */
import { buildCell, CELL_BUNDLE } from "./cell_bundle.ts";
import { readIfThere } from "./files.ts";
import { report } from "./findings.ts";
import { ROOT } from "./launch.ts";
import {
  assetsModule,
  buildPwa,
  FIRST_SCREEN_BYTES,
  firstScreenBytes,
  namesIn,
  PWA_ASSETS,
  PWA_DIST,
} from "./pwa_bundle.ts";

/** What differs from a fresh build in the checkout at `root`, of every bundle. */
export async function checkBundles(root: string): Promise<string[]> {
  return [...await checkCell(root), ...await checkPwa(root)];
}

/** The same for the cell alone. */
export async function checkCell(root: string): Promise<string[]> {
  return await inFolder(async (folder) => {
    await buildCell(root, `${folder}/cell.js`);
    const found = readIfThere(`${root}/${CELL_BUNDLE}`);
    const built = readIfThere(`${folder}/cell.js`);
    return found === built ? [] : [`${CELL_BUNDLE} ${state(found)}. Build it with: deno task build:cell`];
  });
}

/** The same for the phone app: file by file, nothing more, nothing less, and small enough for its first screen. */
export async function checkPwa(root: string): Promise<string[]> {
  return await inFolder(async (folder) => {
    await buildPwa(root, folder);
    const built = new Map(
      namesIn(folder).map((name) => [`${PWA_DIST}/${name}`, bytesIfThere(`${folder}/${name}`)]),
    );
    built.set(PWA_ASSETS, new TextEncoder().encode(await assetsModule(folder)));
    const findings: string[] = [];
    for (const [path, bytes] of built) {
      const found = bytesIfThere(`${root}/${path}`);
      if (!same(found, bytes)) findings.push(`${path} ${state(found)}. Build it with: deno task pwa:build`);
    }
    for (const name of namesIfThere(`${root}/${PWA_DIST}`)) {
      if (!built.has(`${PWA_DIST}/${name}`)) {
        findings.push(`${PWA_DIST}/${name} is not of this build. Build it anew: deno task pwa:build`);
      }
    }
    const bytes = firstScreenBytes(folder);
    if (bytes > FIRST_SCREEN_BYTES) {
      findings.push(
        `The phone's first screen needs ${bytes} bytes of packed script; the most is ${FIRST_SCREEN_BYTES}.`,
      );
    }
    return findings;
  });
}

async function inFolder(check: (folder: string) => Promise<string[]>): Promise<string[]> {
  const folder = await Deno.makeTempDir();
  try {
    return await check(folder);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]; // what cannot be built is not a pass
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function state(found: string | Uint8Array | null): string {
  return found === null ? "is missing" : "differs from its source";
}

function same(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a !== null && b !== null && a.length === b.length && a.every((byte, at) => byte === b[at]);
}

function bytesIfThere(path: string): Uint8Array | null {
  try {
    return Deno.readFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

function namesIfThere(folder: string): string[] {
  try {
    return namesIn(folder);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

if (import.meta.main) Deno.exit(report("bundles", await checkBundles(ROOT)));
