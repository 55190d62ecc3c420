import { displaySafe } from "@custos/core/display";
import { CustosError } from "@custos/core/errors";
import { AGENT_CLIENTS, type AgentClient, type ServerCommand, serverCommand } from "../agent_clients.ts";
import type { Command } from "../command.ts";

const NAMES = Object.keys(AGENT_CLIENTS);

/** `custos mcp-config`. */
export const command: Command = {
  name: "mcp-config",
  usage: "[CLIENT]",
  about:
    "Prints how to register the MCP server with a client: the one command, or what to put into which file. It writes " +
    `nothing. Clients: ${NAMES.join(", ")}.`,
  options: {},
  positionals: [0, 1],
  examples: [
    ["custos mcp-config claude-code", "the command, and the file behind it"],
    ["custos mcp-config cursor --json", "only what stands in the file, for programs"],
    ["custos mcp-config", "all of them"],
  ],
  async run(given, { io, json, agent }) {
    const [name] = given.positionals;
    const chosen = name === undefined ? NAMES : [name];
    for (const [at, key] of chosen.entries()) {
      const client = Object.hasOwn(AGENT_CLIENTS, key) ? AGENT_CLIENTS[key]! : null;
      if (client === null) throw new CustosError("bad_request", `The clients are ${NAMES.join(", ")}.`);
      const server = serverCommand(new URL("../agent_clients.ts", import.meta.url).href, agent.name ?? key);
      if (json) await io.out(`${JSON.stringify({ client: key, ...plain(client, server) })}\n`);
      else await io.out((at > 0 ? "\n" : "") + text(client, server));
    }
    return 0;
  },
};

function plain(client: AgentClient, server: ServerCommand): object {
  const { file, source } = client;
  return { server, register: client.register?.(server) ?? null, file, config: client.config(server), source };
}

function text(client: AgentClient, server: ServerCommand): string {
  const config = client.config(server).trimEnd().split("\n").map((line) => `    ${displaySafe(line)}\n`).join(
    "",
  );
  const command = client.register === undefined
    ? ""
    : `  ${displaySafe(client.register(server))}\n  or by hand, `;
  const by_hand = client.register === undefined ? "  " : "";
  return `${client.title}\n${command}${by_hand}in ${client.file}:\n${config}  Described at ${client.source}\n`;
}
