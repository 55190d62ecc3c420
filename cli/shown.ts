/**
 * The line with a request's words, on the controlling terminal: where the person looks, and where the output of a command
 * that an agent runs does not go (DESIGN §11, ADR 0005).
 */

import { displaySafe } from "@custos/core/display";
import type { Io } from "./io.ts";

/** Writes the line of each request once. */
export class Shown {
  readonly #io: Io;
  readonly #ids = new Set<string>();

  constructor(io: Io) {
    this.#io = io;
  }

  /** `Request <id>  fingerprint: <w1 w2 w3>`, to the controlling terminal, else to stderr. */
  async request(id: string, fingerprint: string): Promise<void> {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    const line = displaySafe(`Request ${id}  fingerprint: ${fingerprint}`);
    if (!await this.#io.tty(line)) this.#io.err(`${line}\n`);
  }
}
