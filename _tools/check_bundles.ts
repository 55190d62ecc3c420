/** Bundles that ship are what their source says: building again gives the same bytes. */
import { buildCell, CELL_BUNDLE } from "./cell_bundle.ts";
import { readIfThere } from "./files.ts";
import { report } from "./findings.ts";
import { ROOT } from "./launch.ts";

/** The bundles of the checkout at `root` that differ from a fresh build. */
export async function checkBundles(root: string): Promise<string[]> {
  const folder = await Deno.makeTempDir();
  try {
    await buildCell(root, `${folder}/cell.js`);
    const found = readIfThere(`${root}/${CELL_BUNDLE}`);
    const built = readIfThere(`${folder}/cell.js`);
    if (found === built) return [];
    return [
      `${CELL_BUNDLE} ${
        found === null ? "is missing" : "differs from its source"
      }. Build it with: deno task build:cell`,
    ];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) Deno.exit(report("bundles", await checkBundles(ROOT)));
