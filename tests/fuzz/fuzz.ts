/** All fuzzers in one run. */

import { fuzzHeaders } from "./headers.ts";
import { type Find, type Fuzzer, Random } from "./random.ts";
import { scrubFuzzer } from "./scrubbing.ts";
import { fuzzUrl } from "./urls.ts";

/** A find with what repeats it. */
export interface Found extends Find {
  fuzzer: string;
  seed: number;
  at: number;
}

/** How many of ten inputs each fuzzer gets. */
const SHARES: readonly (readonly [string, number])[] = [["urls", 4], ["headers", 4], ["scrubbing", 2]];

/** Runs that many inputs. Stops at the first find. `progress` hears of every tenth of the way. */
export function fuzz(runs: number, seed: number, progress: (done: number) => void = () => {}): Found | null {
  const random = new Random(seed);
  const fuzzers: Record<string, Fuzzer> = { urls: fuzzUrl, headers: fuzzHeaders, scrubbing: scrubFuzzer() };
  const turns = SHARES.flatMap(([name, share]) => Array<string>(share).fill(name));
  const step = Math.max(1, Math.floor(runs / 10));
  for (let at = 0; at < runs; at++) {
    const fuzzer = turns[at % turns.length]!;
    const find = fuzzers[fuzzer]!(random);
    if (find !== null) return { ...find, fuzzer, seed, at };
    if ((at + 1) % step === 0) progress(at + 1);
  }
  return null;
}
