/** What a command may do to the outside: write data, talk to people, read stdin. Tests put their own in its place. */

import type { Screen } from "./screen.ts";

/** Which of the three standard streams are terminals. */
export interface Terminals {
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
}

/** The world of a command. */
export interface Io {
  readonly terminals: Terminals;
  /** Width to lay text out for, in columns. */
  readonly columns: number;
  /** Whether text for people may have colours: a terminal, and neither `NO_COLOR` nor `TERM=dumb`. */
  readonly colour: boolean;
  /** Data, to stdout. Resolves when it is written, so that a slow reader slows the source. Throws {@link OutputClosed}. */
  out(data: string | Uint8Array): Promise<void>;
  /** Text for people, to stderr. */
  err(text: string): void;
  /**
   * One line to the controlling terminal, even while stdout and stderr are redirected. `false` where there is none; the
   * caller then uses stderr (DESIGN §11).
   */
  tty(line: string): Promise<boolean>;
  /**
   * A line on stderr that is drawn again each second with the milliseconds that are left, until anything else is written.
   * Absent where stderr is no terminal that can.
   */
  countdown?(line: (left_ms: number) => string, ms: number): void;
  /** The next line of stdin without its end, at most 4,096 bytes; `null` at its end. */
  readLine(): Promise<string | null>;
  /** The bytes of stdin. */
  stdin(): ReadableStream<Uint8Array>;
  /** An environment variable; `undefined` where it is absent or may not be read. */
  env(name: string): string | undefined;
  /** Wall-clock time in milliseconds. */
  now(): number;
  /** Takes the whole terminal. Absent where there can be none. */
  screen?(): Promise<Screen>;
}

/** Whoever read our stdout has gone (`custos http … | head`): stop quietly. */
export class OutputClosed extends Error {
  override readonly name: string = "OutputClosed";
}
