/** What a command is. Each lives in a file of its own under `commands/` and is loaded only when it is called. */

import type { Client } from "@custos/rpc/client";
import type { AgentParam } from "@custos/rpc/common";
import type { Io } from "./io.ts";
import type { Shown } from "./shown.ts";

/** An option. A `boolean` is a switch; a `string` takes a value, and `list` may be given more than once. */
export interface OptionSpec {
  type: "boolean" | "string";
  short?: string;
  list?: boolean;
  /** Stands for the value in help texts. */
  value?: string;
  help: string;
}

/** Options by long name. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** What was given on the command line. */
export interface Given {
  positionals: string[];
  /** Switches that are on. */
  has(name: string): boolean;
  /** The last value of an option. */
  one(name: string): string | undefined;
  /** All values of an option, in order. */
  all(name: string): string[];
}

/** What a command works with. */
export interface Context {
  io: Io;
  client: Client;
  /** Path of the socket that `client` uses. */
  socket: string;
  /** Who asks, from `--agent` or `CUSTOS_AGENT`. */
  agent: AgentParam;
  /** Whether stdout takes JSON. */
  json: boolean;
  /** The requests whose words the person has been shown. */
  shown: Shown;
}

/** A command. */
export interface Command {
  name: string;
  /** What stands after the name, such as `[options] URL`. */
  usage: string;
  /** What it does, for its help. */
  about: string;
  options: OptionSpecs;
  /** Fewest and most positional arguments. */
  positionals: readonly [number, number];
  /** Why no more arguments are taken, where people may try (B108). */
  hint?: string;
  /** Command lines with what they do. */
  examples: readonly (readonly [string, string])[];
  /** Does it. Returns the exit code; throws `CustosError`s for the one place that reports them. */
  run(given: Given, context: Context): Promise<number>;
}

/** Options that every command has. */
export const COMMON_OPTIONS: OptionSpecs = {
  json: { type: "boolean", help: "print JSON" },
  socket: { type: "string", value: "PATH", help: "the daemon's socket (else CUSTOS_SOCKET)" },
  agent: { type: "string", value: "NAME", help: "who asks, as the card shows it (else CUSTOS_AGENT)" },
  help: { type: "boolean", short: "h", help: "show this help" },
};
