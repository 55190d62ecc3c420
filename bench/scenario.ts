/** What a scenario of the bench is, and what it says. */

/** A bar of DESIGN §15, held against a figure. */
export interface Bar {
  /** As it is written there. */
  text: string;
  met: boolean;
}

/** One figure. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  bar?: Bar;
}

/** What came of a scenario. `notes` say what was left out, and why. */
export interface Outcome {
  figures: Figure[];
  notes: string[];
}

/** How a run is done. */
export interface Settings {
  /** Seconds of each load. */
  seconds: number;
  /** How often each load is repeated; medians are reported. */
  rounds: number;
  /** A folder for this scenario alone. */
  folder: string;
  /** Tells the person how it goes. */
  tell: (line: string) => void;
}

/** A scenario. */
export interface Scenario {
  name: string;
  /** What is measured and how, in one or two sentences. */
  method: string;
  run(settings: Settings): Promise<Outcome>;
}

/** A figure that must be at least `least`. */
export function atLeast(name: string, value: number, unit: string, least: number, text: string): Figure {
  return { name, value, unit, bar: { text, met: value >= least } };
}

/** A figure that must be at most `most`. */
export function atMost(name: string, value: number, unit: string, most: number, text: string): Figure {
  return { name, value, unit, bar: { text, met: value <= most } };
}

/** The middle of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Bytes as megabytes of 2²⁰. */
export function megabytes(bytes: number): number {
  return bytes / 1_048_576;
}
