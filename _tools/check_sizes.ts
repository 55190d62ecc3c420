/** One idea a file: source over 300 lines is two ideas. Data and built bundles do not count. */
import { isSource, readIfThere, walk } from "./files.ts";
import { report } from "./findings.ts";
import { ROOT } from "./launch.ts";

/** The most lines that a source file may have. */
export const MAX_LINES = 300;

function counts(path: string): boolean {
  if (/(^|\/)(testdata|golden|dist)\/|\.bundle\.js$/.test(path)) return false;
  return isSource(path) || /\.(js|mjs|sh)$/.test(path) || path === ".ci/run";
}

/** The files of the checkout at `root` that are too long. */
export function checkSizes(root: string): string[] {
  return walk(root).filter(counts).flatMap((path) => {
    const lines = (readIfThere(`${root}/${path}`) ?? "").replace(/\n$/, "").split("\n").length;
    return lines > MAX_LINES
      ? [`${path} has ${lines} lines; the most is ${MAX_LINES}. Give the second idea its own file.`]
      : [];
  });
}

if (import.meta.main) Deno.exit(report("sizes", checkSizes(ROOT)));
