/** Completion scripts for shells, made from the commands themselves. They hold words only and start nothing. */

import type { Command, OptionSpecs } from "./command.ts";
import { COMMON_OPTIONS } from "./command.ts";

/** A command with its line in the overview. */
export interface Completable {
  command: Command;
  summary: string;
  /** Words that its arguments may be. */
  words: readonly string[];
}

/** Shells with a script. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
/** One of {@link SHELLS}. */
export type Shell = typeof SHELLS[number];

/** The script. */
export function completionScript(shell: Shell, commands: readonly Completable[]): string {
  return { bash, zsh, fish }[shell](commands);
}

function optionsOf({ command }: Completable): OptionSpecs {
  return { ...command.options, ...COMMON_OPTIONS };
}

/** `--name` and `-n` of every option. */
function flags(item: Completable): string[] {
  return Object.entries(optionsOf(item)).flatMap(([name, { short }]) =>
    short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]
  );
}

/** Options after which the next word is a value. */
function valueFlags(item: Completable): string[] {
  return Object.entries(optionsOf(item)).filter(([, { type }]) => type === "string").flatMap((
    [name, { short }],
  ) => short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]);
}

/** The command is the first word that is no option and no option's value. `compgen` is bash's own. */
function bash(commands: readonly Completable[]): string {
  const names = [...commands.map(({ command }) => command.name), "help"];
  const global = ["--help", "--version", "--socket", "--agent", "--json"];
  const rows = commands.map((item) =>
    `    ${item.command.name}) words='${[...flags(item), ...item.words].join(" ")}'
      values=' ${valueFlags(item).join(" ")} ' ;;`
  );
  return `# custos completions for bash. Load it: source <(custos completions bash)
_custos() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} name='' words='' values='' at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
      --socket|--agent) ((at++)) ;;
      -*) ;;
      *) name=\${COMP_WORDS[at]}; break ;;
    esac
  done
  COMPREPLY=()
  case $name in
    '') words='${[...names, ...global].join(" ")}'; values=' --socket --agent ' ;;
    help) words='${names.join(" ")}' ;;
${rows.join("\n")}
  esac
  [[ $values == *" $prev "* ]] && return
  while IFS='' read -r at; do COMPREPLY+=("$at"); done < <(compgen -W "$words" -- "$cur")
}
complete -F _custos custos
`;
}

function zsh(commands: readonly Completable[]): string {
  const described = (rows: readonly (readonly [string, string])[]) =>
    rows.map(([word, text]) => `    ${single(`${word.replaceAll(":", "\\:")}:${text}`)}`).join("\n");
  const names = described([
    ...commands.map(({ command, summary }) => [command.name, summary] as const),
    ["help", "help of a command"],
  ]);
  const rows = commands.map((item) => {
    const options = Object.entries(optionsOf(item)).map(([name, { type, help, short }]) => {
      const value = type === "string" ? ":value: " : "";
      const text = help.replace(/[\\[\]:]/g, "\\$&");
      const long = single(`--${name}[${text}]${value}`);
      return short === undefined ? long : `${single(`-${short}[${text}]${value}`)} ${long}`;
    });
    const words = item.words.length === 0 ? "" : ` ${single(`*:what:(${item.words.join(" ")})`)}`;
    return `    ${item.command.name}) _arguments ${options.join(" ")}${words} ;;`;
  });
  return `#compdef custos
# custos completions for zsh. Put it into a folder of your fpath as _custos, or: source <(custos completions zsh)
_custos() {
  local -a names
  names=(
${names}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' names
    return
  fi
  local name=$words[2]
  shift words; (( CURRENT-- ))
  case $name in
    help) _describe 'command' names ;;
${rows.join("\n")}
  esac
}
if [[ $funcstack[1] == _custos ]]; then _custos "$@"; else compdef _custos custos; fi
`;
}

function fish(commands: readonly Completable[]): string {
  const lines = commands.flatMap((item) => {
    const { command, summary, words } = item;
    const when = `-n ${single(`__fish_seen_subcommand_from ${command.name}`)}`;
    const options = Object.entries(optionsOf(item)).map(([name, { short, type, help }]) =>
      `complete -c custos ${when} -l ${name}${short === undefined ? "" : ` -s ${short}`}${
        type === "string" ? " -x" : ""
      } -d ${single(help)}`
    );
    const own = words.length === 0 ? [] : [`complete -c custos ${when} -a ${single(words.join(" "))}`];
    return [
      `complete -c custos -n __fish_use_subcommand -a ${command.name} -d ${single(summary)}`,
      ...options,
      ...own,
    ];
  });
  return `# custos completions for fish. Load it: custos completions fish | source
complete -c custos -f
${lines.join("\n")}
`;
}

/** In single quotes, as all three shells read them where the text has none. */
function single(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}
