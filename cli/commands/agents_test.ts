import assert from "node:assert/strict";
import { AGENT_CLIENTS, serverCommand } from "../agent_clients.ts";
import { custos } from "../testing/fake_io.ts";

const nowhere = "/nonexistent/custos.sock";
const server = { command: "/home/k/it's here/bin/custos-mcp", args: ["--agent", "claude"] };

Deno.test("serverCommand() finds the script of an installation, the task of a checkout, or only the name", () => {
  const rows: [string, unknown][] = [
    [
      "file:///home/k/.local/lib/custos/0.1.0-abc/code/cli/agent_clients.ts",
      { command: "/home/k/.local/bin/custos-mcp", args: ["--agent", "a"] },
    ],
    [
      "file:///home/k/my%20src/custos/cli/agent_clients.ts",
      { command: "deno", args: ["task", "--quiet", "--cwd", "/home/k/my src/custos", "mcp", "--agent", "a"] },
    ],
    ["https://jsr.io/@custos/cli/0.1.0/agent_clients.ts", { command: "custos-mcp", args: ["--agent", "a"] }],
  ];
  for (const [module, expected] of rows) assert.deepEqual(serverCommand(module, "a"), expected);
});

Deno.test("custos mcp-config gives every client a file that parses and starts the server without a shell", () => {
  const keys: Record<string, string> = {
    "claude-code": "mcpServers",
    cursor: "mcpServers",
    gemini: "mcpServers",
    vscode: "servers",
    zed: "context_servers",
  };
  for (const [name, key] of Object.entries(keys)) {
    const config = JSON.parse(AGENT_CLIENTS[name]!.config(server));
    const { type, ...rest } = config[key].custos;
    assert.deepEqual(rest, server, name);
    assert.equal(type, name === "vscode" ? "stdio" : undefined);
  }
  assert.equal(
    AGENT_CLIENTS["codex"]!.config(server),
    '[mcp_servers.custos]\ncommand = "/home/k/it\'s here/bin/custos-mcp"\nargs = ["--agent","claude"]\ntool_timeout_sec = 130\n',
  );
});

Deno.test("custos mcp-config quotes the command for a shell", () => {
  const command = `'/home/k/it'\\''s here/bin/custos-mcp'`;
  const rows: [string, string | undefined][] = [
    ["claude-code", `claude mcp add --scope user custos -- ${command} --agent claude`],
    ["codex", `codex mcp add custos -- ${command} --agent claude`],
    ["gemini", `gemini mcp add -s user custos ${command} -- --agent claude`],
    ["cursor", undefined],
    ["zed", undefined],
  ];
  for (const [name, line] of rows) assert.equal(AGENT_CLIENTS[name]!.register?.(server), line);
});

Deno.test("custos mcp-config prints one client or all, calls no daemon, and refuses a name that it does not know", async () => {
  const one = await custos(nowhere, ["mcp-config", "codex"]);
  assert.equal(one.code, 0);
  assert.match(
    one.out,
    /^Codex\n {2}codex mcp add custos -- deno task --quiet --cwd \S+ mcp --agent codex\n/,
  );
  assert.match(one.out, /Described at https:/);
  const all = await custos(nowhere, ["mcp-config", "--json"]);
  assert.deepEqual(
    all.out.trim().split("\n").map((line) => JSON.parse(line).client),
    Object.keys(AGENT_CLIENTS),
  );
  for (const name of ["notepad", "constructor", "../x"]) {
    const { code, out } = await custos(nowhere, ["mcp-config", name]);
    assert.deepEqual([code, out], [2, ""], name);
  }
});
