/** What the demo prints: calm lines for people, or one JSON object a line with `--json`. A step that is not so ends it. */

import { say } from "../../_tools/say.ts";

/** One thing that was seen, with what proves it. */
export interface Fact {
  /** What happened, as a sentence. */
  says: string;
  /** Whether it is as it should be. */
  ok: boolean;
  /** Words and other values, for `--json` and for the eye. */
  shows?: Readonly<Record<string, string | number | boolean | null>>;
}

/** Thrown when a fact is not as it should be. */
export class NotSo extends Error {
  override readonly name = "NotSo";
}

/** Prints steps and facts with times since the start. */
export class Narrator {
  readonly #started = performance.now();
  readonly #json: boolean;
  #step = "";

  constructor(json: boolean) {
    this.#json = json;
  }

  /** Begins a step. */
  step(title: string): void {
    this.#step = title;
    if (!this.#json) say(`\n${title}`);
  }

  /** Prints a fact. Throws `NotSo` if it is not as it should be. */
  fact({ says, ok, shows = {} }: Fact): void {
    const ms = Math.round(performance.now() - this.#started);
    if (this.#json) {
      say(JSON.stringify({ ms, step: this.#step, ok, says, ...shows }));
    } else {
      const time = `${(ms / 1000).toFixed(1)} s`.padStart(7);
      say(`${time}  ${ok ? "·" : "NOT SO:"} ${says}`);
      for (const [name, value] of Object.entries(shows)) say(`             ${name}: ${value}`);
    }
    if (!ok) throw new NotSo(`${this.#step}: ${says}`);
  }

  /** The last line. */
  end(ok: boolean, says: string): void {
    const ms = Math.round(performance.now() - this.#started);
    if (this.#json) say(JSON.stringify({ ms, step: "end", ok, says }));
    else say(`\n${says} (${(ms / 1000).toFixed(1)} s)`);
  }
}
