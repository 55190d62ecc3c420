/** `deno task build:cell`: builds the egress cell's bundle in its place. */
import { buildCell, CELL_BUNDLE } from "./cell_bundle.ts";
import { ROOT } from "./launch.ts";
import { say } from "./say.ts";

await buildCell(ROOT, `${ROOT}/${CELL_BUNDLE}`);
say(`${CELL_BUNDLE}: ${Deno.statSync(`${ROOT}/${CELL_BUNDLE}`).size} bytes`);
