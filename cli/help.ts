/** Help texts, made from the commands themselves, so that they cannot drift apart. */

import { type Command, COMMON_OPTIONS, type OptionSpecs } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { rows } from "./text.ts";

/** The overview. */
export function overview(): string {
  const names = Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary] as const);
  return "custos gives an agent the effect of a secret and never the secret.\n\n" +
    "Usage: custos COMMAND [options]\n\n" +
    rows(names) +
    "\nEach command has --help with examples, and --json for programs.\n" +
    "Exit codes: 0 done, 1 upstream status >= 400 with --fail or a problem that doctor found,\n" +
    "2 usage, 3 needs approval, 4 denied or over, 5 outcome unknown, 6 daemon or phone unreachable,\n" +
    "7 refused by policy, 8 upstream unreachable.\n";
}

/** The help of one command. */
export function helpOf(command: Command): string {
  const own = optionRows(command.options);
  return `${wrapped(command.about)}\n\nUsage: custos ${command.name}${
    command.usage === "" ? "" : ` ${command.usage}`
  }\n\n` +
    rows([...own, ...optionRows(COMMON_OPTIONS)]) +
    "\nExamples:\n" +
    command.examples.map(([line, what]) => `  ${line}\n      ${what}\n`).join("");
}

/** Text in lines of at most 78 columns. */
function wrapped(text: string): string {
  return text.replace(/(.{1,78})(?: |$)/g, "$1\n").trimEnd();
}

function optionRows(options: OptionSpecs): [string, string][] {
  return Object.entries(options).map(([name, { short, value, help, list }]) => {
    const label = `${short === undefined ? "    " : `-${short}, `}--${name}${
      value === undefined ? "" : ` ${value}`
    }`;
    return [label, `${help}${list === true ? "; may repeat" : ""}`];
  });
}
