/** The relay's own failures, told to its operator without flooding. */

const REPEAT_MS = 60_000;

/** Passes a line on, and the same line again only after a minute: a full disk fails every request. */
export class Reporter {
  readonly #write: (line: string) => void;
  readonly #now: () => number;
  readonly #told: Map<string, number> = new Map();

  constructor(write: (line: string) => void, now: () => number = () => performance.now()) {
    this.#write = write;
    this.#now = now;
  }

  /** Reports one failure. */
  report(line: string): void {
    const now = this.#now();
    for (const [told, at] of this.#told) if (now - at >= REPEAT_MS) this.#told.delete(told);
    if (this.#told.has(line)) return;
    this.#told.set(line, now);
    this.#write(line);
  }
}
