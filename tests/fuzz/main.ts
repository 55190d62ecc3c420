/**
 * `deno task fuzz [--runs N] [--seed N]`: URLs, headers and scrubbing against models of their own. One million inputs unless
 * told otherwise. Exit code 1 where something was found; the seed repeats it.
 */

import { parseArgs } from "node:util";
import { fuzz } from "./fuzz.ts";

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

function whole(text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  say(`${text} is not a whole number.`);
  Deno.exit(2);
}

const { values } = parseArgs({
  args: Deno.args,
  options: { runs: { type: "string" }, seed: { type: "string" } },
});
const runs = whole(values.runs, 1_000_000);
const seed = whole(values.seed, crypto.getRandomValues(new Uint32Array(1))[0]!);
say(`seed ${seed}, ${runs} inputs`);
const found = fuzz(runs, seed, (done) => say(`${done} inputs, nothing found`));
if (found !== null) {
  say(`Found by ${found.fuzzer} at input ${found.at} of seed ${found.seed}: ${found.wrong}\n${found.input}`);
  Deno.exit(1);
}
