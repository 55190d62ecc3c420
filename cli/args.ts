/**
 * The command line of one command, checked: unknown options, missing values and extra arguments are usage errors. Options
 * are written as POSIX and GNU do: `-d DATA`, `-dDATA`, `-if`, `--data DATA`, `--data=DATA`, and `--` ends them.
 *
 * Written here and not taken from `node:util`, whose import costs a cold start 5 ms and 2 MB, and whose messages repeat what
 * was typed.
 */

import { displayLine } from "@custos/core/display";
import { CustosError } from "@custos/core/errors";
import { type Command, COMMON_OPTIONS, type Given, type OptionSpecs } from "./command.ts";

/**
 * Reads the arguments after a command's name. Throws `bad_request`; the messages name options and never repeat values,
 * which could be secrets that were put in the wrong place (B108).
 */
export function readArgs(command: Command, args: readonly string[]): Given {
  const { values, positionals } = parse(command, args);
  const [least, most] = command.positionals;
  const usage = `Usage: custos ${command.name} ${command.usage}.`.replace(" .", ".");
  if (!values.has("help")) {
    if (positionals.length < least) fail(command, usage);
    if (positionals.length > most) fail(command, command.hint ?? usage);
  }
  return {
    positionals,
    has: (name) => values.has(name),
    one: (name) => values.get(name)?.at(-1),
    all: (name) => values.get(name) ?? [],
  };
}

interface Parsed {
  values: Map<string, string[]>;
  positionals: string[];
}

function parse(command: Command, args: readonly string[]): Parsed {
  const specs: OptionSpecs = { ...command.options, ...COMMON_OPTIONS };
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  const rest = [...args];

  /** Takes one option; `inline` is a value that stands in the same argument. */
  function take(written: string, name: string | undefined, inline: string | undefined): void {
    const spec = name !== undefined && Object.hasOwn(specs, name) ? specs[name] : undefined;
    if (name === undefined || spec === undefined) {
      return fail(command, `custos ${command.name} has no option ${displayLine(written, 40)}.`);
    }
    if (spec.type === "boolean") {
      if (inline !== undefined) fail(command, `The option ${written} takes no value.`);
      values.set(name, []);
      return;
    }
    const value = inline ?? rest.shift();
    if (value === undefined) return fail(command, `The option ${written} needs a value.`);
    // `--reason --json` lost its value; who means a value that begins with a dash can say so
    if (inline === undefined && /^-./.test(value)) {
      return fail(command, `The option ${written} needs a value. One that begins with - is --${name}=VALUE.`);
    }
    const earlier = values.get(name) ?? [];
    if (spec.list !== true && earlier.length > 0) fail(command, `The option ${written} can be given once.`);
    values.set(name, [...earlier, value]);
  }

  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--") {
      positionals.push(...rest.splice(0));
    } else if (arg.startsWith("--")) {
      const equals = arg.indexOf("=");
      const written = equals < 0 ? arg : arg.slice(0, equals);
      take(written, written.slice(2), equals < 0 ? undefined : arg.slice(equals + 1));
    } else if (/^-./.test(arg)) {
      takeShort(arg.slice(1), specs, take);
    } else {
      positionals.push(arg);
    }
  }
  return { values, positionals };
}

/** `-if` is two switches; in `-dDATA` and `-idDATA` all after the first letter that takes a value is its value. */
function takeShort(
  letters: string,
  specs: OptionSpecs,
  take: (written: string, name: string | undefined, inline: string | undefined) => void,
): void {
  for (const [at, letter] of [...letters].entries()) {
    const name = Object.keys(specs).find((key) => specs[key]!.short === letter);
    const after = [...letters].slice(at + 1).join("");
    if (name !== undefined && specs[name]!.type === "string") {
      return take(`-${letter}`, name, after === "" ? undefined : after);
    }
    take(`-${letter}`, name, undefined);
  }
}

function fail(command: Command, why: string): never {
  throw new CustosError("bad_request", `${why} See: custos ${command.name} --help`);
}

/** A whole number within bounds. Throws `bad_request` that names the option. */
export function wholeNumber(text: string, option: string, min: number, max: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new CustosError("bad_request", `${option} takes a whole number from ${min} to ${max}.`);
}

/** `--wait` in milliseconds: seconds from 0 to 120, 60 when absent (DESIGN §11). */
export function waitMs(given: Given): number {
  const text = given.one("wait");
  if (text === undefined) return 60_000;
  const seconds = /^\d{1,3}(\.\d{1,3})?$/.test(text) ? Number(text) : NaN;
  if (seconds >= 0 && seconds <= 120) return Math.round(seconds * 1_000);
  throw new CustosError(
    "bad_request",
    "--wait takes seconds from 0 to 120. With 0 the command returns at once.",
  );
}

/** A handle as people type it: `custos:github`, or only `github`. */
export function toHandle(text: string): string {
  return text.startsWith("custos:") ? text : `custos:${text}`;
}

/** The option `--wait` of every command that waits for a person. */
export const WAIT_OPTION: OptionSpecs = {
  wait: { type: "string", value: "S", help: "seconds to wait for the answer, 0 to 120 (60)" },
};
