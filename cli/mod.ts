/**
 * The command `custos` as a function, for programs that bring their own streams and client.
 *
 * @module
 */

export type { Command, Context, Given, OptionSpec, OptionSpecs } from "./command.ts";
export { type Io, OutputClosed, type Terminals } from "./io.ts";
export { type Connect, run } from "./run.ts";
export { Shown } from "./shown.ts";
