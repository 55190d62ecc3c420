/** The documents for people who install custos and for agents name only what is there. */

import assert from "node:assert/strict";
import { denoOutput, ROOT } from "@custos/tools/launch";
import { HELP } from "../../_tools/install/options.ts";
import { COMMANDS as SCRIPTS } from "../../_tools/install/shims.ts";
import { AGENT_CLIENTS } from "../../cli/agent_clients.ts";
import { COMMANDS } from "../../cli/commands.ts";

const read = (path: string): string => Deno.readTextFileSync(`${ROOT}/${path}`);

/** Text in backticks and code blocks; of a block that is a document itself, its own. Output (`text`) is left out. */
const codeIn = (text: string): string[] =>
  [...text.matchAll(/```(\w*)\n([^]*?)```|`([^`\n]+)`/g)].flatMap(([, kind, block, inline]) =>
    kind === "md" ? codeIn(block!) : kind === "text" ? [] : (block ?? inline)!.split("\n")
  );

Deno.test("docs/install.md and docs/agents.md name commands and options that are there", async () => {
  for (const path of ["docs/install.md", "docs/agents.md"]) {
    const code = codeIn(read(path));
    assert.ok(code.length > 10, path);
    for (const line of code) {
      for (const [, name] of line.matchAll(/(?:^|[\s`])custos ([a-z][a-z-]+)/g)) {
        // `claude mcp add … custos -- …` names the server
        assert.ok(name! in COMMANDS, `${path}: ${line}`);
      }
      for (const [name] of line.matchAll(/\bcustos-(?!door|callers|<)[a-z]+(?:-pwa)?\b/g)) {
        assert.ok(name in SCRIPTS, `${path}: ${line}`);
      }
      if (!/\bdeno task install\b/.test(line)) continue;
      for (const [, option] of line.matchAll(/ --(?!help)([a-z-]+)/g)) {
        assert.ok(HELP.includes(`--${option}`), `${path}: ${line}`);
      }
    }
  }
  for (const option of ["--state", "--yes", "--print", "--profile"]) assert.ok(HELP.includes(option));
  const { command: http } = await COMMANDS["http"]!.load();
  for (const option of ["request", "header", "data", "reason"]) assert.ok(option in http.options);
});

Deno.test("docs/agents.md lists every client that custos mcp-config knows, with its source", () => {
  const text = read("docs/agents.md");
  for (const [name, { title, source }] of Object.entries(AGENT_CLIENTS)) {
    assert.match(text, new RegExp(`\\| ${title} +\\| \`${name}\``));
    assert.ok(text.includes(`(${source})`), source);
  }
});

Deno.test("the example of docs/agents.md type-checks against the packages as they are", async () => {
  const { code, stderr } = await denoOutput(["check", "--doc-only", `${ROOT}/docs/agents.md`], { cwd: ROOT });
  assert.equal(code, 0, stderr);
});
