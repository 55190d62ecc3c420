/** The completion script in the bash of this machine, as a person who presses Tab meets it. */

import assert from "node:assert/strict";
import { launchProgram } from "@custos/tools/launch";
import { COMMANDS } from "../cli/commands.ts";
import { custos } from "../cli/testing/fake_io.ts";

const script = async (shell: string) =>
  (await custos("/nonexistent/custos.sock", ["completions", shell])).out;

/** What bash offers for this line, whose last word is being typed. */
async function offered(words: string[]): Promise<string[]> {
  const lines = `${await script("bash")}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _custos; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const child = launchProgram("bash", {
    args: ["--norc", "-c", lines, "bash", ...words],
    stdout: "piped",
    stderr: "piped",
  });
  if (child === null) throw new Error("The program `bash` is needed for this test, and may not be run here.");
  const { stdout, stderr } = await child.output();
  assert.equal(new TextDecoder().decode(stderr), "");
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "");
}

Deno.test("custos completions bash completes commands, options and their words, and leaves values to the person", async () => {
  assert.deepEqual(await offered(["custos", "wat"]), ["watch"]);
  assert.deepEqual((await offered(["custos", ""])).filter((word) => word in COMMANDS), Object.keys(COMMANDS));
  const rows: [string[], string[]][] = [
    [["custos", "http", "--hea"], ["--header"]],
    [["custos", "--socket", "/s", "gr"], ["grants"]],
    [["custos", "--json", "lo"], ["lock", "log"]],
    [["custos", "log", "v"], ["verify"]],
    [["custos", "log", "--limit", ""], []],
    [["custos", "completions", "f"], ["fish"]],
    [["custos", "mcp-config", "cl"], ["claude-code"]],
    [["custos", "help", "doc"], ["doctor"]],
    [["custos", "nothing", ""], []],
    [["custos", "http", "$(touch /tmp/x)"], []],
  ];
  for (const [words, expected] of rows) assert.deepEqual(await offered(words), expected, words.join(" "));
});

Deno.test("custos completions zsh and fish name every command and option", async () => {
  for (const shell of ["zsh", "fish"]) {
    const text = await script(shell);
    for (const [name, { load }] of Object.entries(COMMANDS)) {
      assert.ok(text.includes(name), `${shell} ${name}`);
      for (const option of Object.keys((await load()).command.options)) {
        assert.ok(
          text.includes(shell === "zsh" ? `--${option}[` : `-l ${option} `),
          `${shell} ${name} ${option}`,
        );
      }
    }
  }
  const { code } = await custos("/nonexistent/custos.sock", ["completions", "tcsh"]);
  assert.equal(code, 2);
});
