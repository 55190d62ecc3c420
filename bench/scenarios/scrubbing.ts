/** The scrubber alone, on one core. */

import { utf8 } from "@custos/core/bytes";
import { FormIndex } from "../../daemon/egress/form_index.ts";
import { scrubForms } from "../../daemon/egress/scrub_forms.ts";
import { markerFor, Scrubber } from "../../daemon/egress/scrubber.ts";
import { type Figure, median, megabytes, type Outcome, type Scenario, type Settings } from "../scenario.ts";

const CHUNK = 65_536;
const CHUNKS = 1_024;

/** Text as APIs send it, which holds no secret. */
function cleanText(): Uint8Array {
  const line = JSON.stringify({
    id: 91_823,
    name: "a repository",
    url: "https://api.example/repos/91823",
    open: true,
  });
  return utf8((line + ",\n").repeat(Math.ceil(CHUNK / line.length))).slice(0, CHUNK);
}

/** A secret of this length; each is another. */
function secret(length: number, n: number): string {
  const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  let state = n * 2_654_435_761 + 12_345;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return characters[(state >>> 16) % characters.length];
  }).join("");
}

function scrubAll(index: FormIndex, chunk: Uint8Array): number {
  const scrubber = new Scrubber(index, markerFor("bench", index));
  const start = performance.now();
  for (let i = 0; i < CHUNKS; i++) scrubber.push(chunk);
  scrubber.end();
  if (scrubber.redactions > 0) throw new Error("Something was found where nothing is.");
  return megabytes(CHUNK * CHUNKS) / ((performance.now() - start) / 1000);
}

/** Throughput by length and number of secrets. */
export const scrubbing: Scenario = {
  name: "scrubbing",
  method:
    "64 MB of JSON without the secret, in pieces of 64 KB, through the scrubber with all forms of 1, 8 and 64 secrets of 40 and " +
    "of 12 characters. One core, nothing else.",
  run({ rounds, tell }: Settings): Promise<Outcome> {
    const chunk = cleanText();
    const figures: Figure[] = [];
    for (const [length, least] of [[40, 1_000], [12, 300]] as const) {
      for (const count of [1, 8, 64]) {
        const forms = Array.from(
          { length: count },
          (_, n) => scrubForms(utf8(secret(length, n)), { kind: "bearer" }),
        ).flat();
        const index = new FormIndex(forms);
        scrubAll(index, chunk); // warms up
        const value = median(Array.from({ length: rounds }, () => scrubAll(index, chunk)));
        const name = `${length} characters, ${count} ${
          count === 1 ? "secret" : "secrets"
        }, ${forms.length} forms`;
        tell(`${name}: ${Math.round(value)} MB/s`);
        const bar = count === 1 ? { bar: { text: `≥ ${least} MB/s`, met: value >= least } } : {};
        figures.push({ name, value, unit: "MB/s", ...bar });
      }
    }
    return Promise.resolve({ figures, notes: [] });
  },
};
