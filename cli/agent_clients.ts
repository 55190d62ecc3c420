/**
 * How MCP clients are told of `custos-mcp`. Data with the source of each form; nothing is written by custos: the CLI has no
 * permission for any file, and a person should see what an agent is given.
 */

/** The command that starts the MCP server. */
export interface ServerCommand {
  command: string;
  args: string[];
}

/** One client. */
export interface AgentClient {
  /** The name that people know. */
  title: string;
  /** The one command that registers the server, where the client has one. */
  register?: (server: ServerCommand) => string;
  /** The file that holds it. */
  file: string;
  /** What stands in that file. */
  config: (server: ServerCommand) => string;
  /** Where this form is described (read in November 2026, not tried with the client itself). */
  source: string;
}

/** The clients by the word that `custos mcp-config` takes. */
export const AGENT_CLIENTS: Readonly<Record<string, AgentClient>> = {
  "claude-code": {
    title: "Claude Code",
    register: (server) => `claude mcp add --scope user custos -- ${words(server)}`,
    file: "~/.claude.json (or .mcp.json in a project)",
    config: (server) => json({ mcpServers: { custos: server } }),
    source: "https://code.claude.com/docs/en/mcp",
  },
  codex: {
    title: "Codex",
    register: (server) => `codex mcp add custos -- ${words(server)}`,
    file: "~/.codex/config.toml",
    // its own limit for a tool is 60 s, and a person may need longer (B91)
    config: ({ command, args }) =>
      `[mcp_servers.custos]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n` +
      "tool_timeout_sec = 130\n",
    source: "https://developers.openai.com/codex/mcp",
  },
  cursor: {
    title: "Cursor",
    file: "~/.cursor/mcp.json (or .cursor/mcp.json in a project)",
    config: (server) => json({ mcpServers: { custos: server } }),
    source: "https://cursor.com/docs/mcp",
  },
  vscode: {
    title: "VS Code",
    register: (server) => `code --add-mcp ${quoted(JSON.stringify({ name: "custos", ...server }))}`,
    file: ".vscode/mcp.json (or mcp.json of your profile)",
    config: (server) => json({ servers: { custos: { type: "stdio", ...server } } }),
    source: "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
  },
  gemini: {
    title: "Gemini CLI",
    // its own parser would take the server's options for its own
    register: ({ command, args }) =>
      `gemini mcp add -s user custos ${quoted(command)} -- ${args.map(quoted).join(" ")}`,
    file: "~/.gemini/settings.json (or .gemini/settings.json in a project)",
    config: (server) => json({ mcpServers: { custos: server } }),
    source: "https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md",
  },
  zed: {
    title: "Zed",
    file: "settings.json, by the command zed: open settings",
    config: (server) => json({ context_servers: { custos: server } }),
    source: "https://zed.dev/docs/ai/mcp",
  },
};

/**
 * The command of the MCP server that belongs to this copy of the CLI, from the address of a module `cli/…`: the installed
 * script beside it, the task of a checkout, or only the name. An absolute path, since editors do not have a shell's PATH.
 */
export function serverCommand(module: string, agent: string): ServerCommand {
  const args = ["--agent", agent];
  const path = module.startsWith("file:///") ? decodeURIComponent(module.slice("file://".length)) : "";
  const installed = /^(.*)\/lib\/custos\/[^/]+\/code\/cli\/[^/]+$/.exec(path);
  if (installed !== null) return { command: `${installed[1]}/bin/custos-mcp`, args };
  const checkout = /^(.*)\/cli\/[^/]+$/.exec(path);
  if (checkout === null) return { command: "custos-mcp", args };
  return { command: "deno", args: ["task", "--quiet", "--cwd", checkout[1]!, "mcp", ...args] };
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function words({ command, args }: ServerCommand): string {
  return [command, ...args].map(quoted).join(" ");
}

/** One word for a POSIX shell. */
function quoted(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
