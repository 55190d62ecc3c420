import { CustosError } from "@custos/core/errors";
import type { Command } from "../command.ts";
import { type Completable, completionScript, type Shell, SHELLS } from "../completion_scripts.ts";

/** Words that the arguments of a command may be. Others are names and ids, which only the daemon knows. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  log: ["verify"],
  completions: SHELLS,
};

/** `custos completions`. */
export const command: Command = {
  name: "completions",
  usage: SHELLS.join("|"),
  about: "Prints a script that completes commands and options in your shell.",
  options: {},
  positionals: [1, 1],
  examples: [
    ["custos completions fish | source", "in ~/.config/fish/config.fish"],
    ["source <(custos completions bash)", "in ~/.bashrc"],
    ["source <(custos completions zsh)", "in ~/.zshrc, after compinit"],
  ],
  async run(given, { io }) {
    const shell = SHELLS.find((name) => name === given.positionals[0]);
    if (shell === undefined) throw new CustosError("bad_request", `The shells are ${SHELLS.join(", ")}.`);
    await io.out(await script(shell));
    return 0;
  },
};

async function script(shell: Shell): Promise<string> {
  const { COMMANDS } = await import("../commands.ts");
  const { AGENT_CLIENTS } = await import("../agent_clients.ts");
  const commands: Completable[] = [];
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    const words = name === "mcp-config" ? Object.keys(AGENT_CLIENTS) : WORDS[name] ?? [];
    commands.push({ command: (await load()).command, summary, words });
  }
  return completionScript(shell, commands);
}
