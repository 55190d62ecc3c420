/**
 * The bundle of the egress cell. It is checked in, so that the daemon starts it from its own text with no read permission,
 * and anybody can build the same bytes again. Only a minified bundle is free of the paths of the machine that built it.
 */
import { denoOutput } from "./launch.ts";

/** Source and bundle, from the top of the checkout. */
export const CELL_SOURCE = "daemon/egress/cell_main.ts";
export const CELL_BUNDLE = "daemon/egress/cell.bundle.js";

const ARGS = ["bundle", "--minify", "--platform", "deno", "--frozen"];

/** Builds the bundle of `root` into `out`. Throws where Deno cannot. */
export async function buildCell(root: string, out: string): Promise<void> {
  const { code, stderr } = await denoOutput([...ARGS, "--output", out, CELL_SOURCE], { cwd: root });
  if (code !== 0) throw new Error(`The cell could not be bundled.\n${stderr.trimEnd()}`);
}
