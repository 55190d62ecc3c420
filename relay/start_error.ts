/** Why a relay did not start. */

/** Exit codes of the relay, by reason. 0 is a clean stop. */
export const START_EXIT_CODES = { usage: 2, environment: 2, storage: 5, listen: 6 } as const;

/** A reason not to start, and the kind that gives the exit code. The message is for people. */
export class StartError extends Error {
  override readonly name: string = "StartError";
  readonly kind: keyof typeof START_EXIT_CODES;

  constructor(kind: keyof typeof START_EXIT_CODES, message: string) {
    super(message);
    this.kind = kind;
  }

  /** The exit code of the process. */
  get exitCode(): number {
    return START_EXIT_CODES[this.kind];
  }
}
