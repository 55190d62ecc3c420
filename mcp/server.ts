/**
 * The MCP server: four tools over one daemon. It uses the SDK's `Server` and not `McpServer`, because custos checks the
 * arguments, shapes the errors and lists the schemas itself (`tool.ts`).
 */

import {
  CLIENT_INFO_META_KEY,
  type Implementation,
  INVALID_PARAMS,
  INVALID_REQUEST,
  ProtocolError,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { displayLine } from "@custos/core/display";
import type { AgentParam } from "@custos/rpc/common";
import { httpRequest } from "./http_request.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { listHandles } from "./list_handles.ts";
import { type Notify, Progress } from "./progress.ts";
import { requestAccess } from "./request_access.ts";
import { requestSecretFromHuman } from "./request_secret_from_human.ts";
import type { CallContext, Daemon, Tool } from "./tool.ts";

/** The tools, in the order in which a model meets them. */
export const TOOLS: readonly Tool[] = [listHandles, requestAccess, httpRequest, requestSecretFromHuman];

/** Longest name or version of an agent that the daemon takes. */
const MAX_AGENT_CHARACTERS = 64;

/** What a server needs. */
export interface ServerOptions {
  readonly daemon: Daemon;
  /** From `--agent` or `CUSTOS_AGENT`; the phone shows that the agent calls itself so. */
  readonly agent: string | null;
}

/**
 * A server for one connection. Connect it to a transport, or give it to the SDK's `serveStdio`.
 *
 * ```ts
 * import { createServer } from "@custos/mcp";
 * import { Client } from "@custos/rpc/client";
 * const daemon = new Client({ socket: "/run/user/1000/custos/custos.sock" });
 * const server = createServer({ daemon, agent: "builder" });
 * await server.close();
 * ```
 */
export function createServer(options: ServerOptions): Server {
  const server = new Server(
    { name: "custos", title: "custos", version: "0.1.0" },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler("tools/list", () => ({
    tools: TOOLS.map(({ name, description, annotations, inputSchema, outputSchema }) => ({
      name,
      title: annotations.title,
      description,
      annotations,
      inputSchema,
      outputSchema,
    })),
  }));
  server.setRequestHandler("tools/call", async (request, ctx) => {
    const client = clientOf(server, ctx);
    if (client === null) throw new ProtocolError(INVALID_REQUEST, "Send initialize first. Nothing was done.");
    const tool = TOOLS.find(({ name }) => name === request.params.name);
    if (tool === undefined) {
      const names = TOOLS.map(({ name }) => name).join(", ");
      const asked = displayLine(request.params.name, 80);
      throw new ProtocolError(INVALID_PARAMS, `There is no tool ${asked}. There are ${names}.`);
    }
    const agent: AgentParam = { name: options.agent, client };
    return { ...await tool.call(request.params.arguments, contextOf(options.daemon, agent, ctx)) };
  });
  return server;
}

function contextOf(daemon: Daemon, agent: AgentParam, ctx: ServerContext): CallContext {
  const token = ctx.mcpReq._meta?.progressToken;
  const notify: Notify | null = token === undefined ? null : (progress, total, message) =>
    ctx.mcpReq.notify({
      method: "notifications/progress",
      params: { progressToken: token, progress, total, message },
    });
  return { daemon, agent, signal: ctx.mcpReq.signal, progress: (seconds) => new Progress(notify, seconds) };
}

/**
 * Who the client says it is: from the request itself (protocol 2026-07-28) or from `initialize` (before it). `null` where
 * neither came: a call from nobody is refused, so that every card names a client (B98, B100).
 */
function clientOf(server: Server, ctx: ServerContext): { name: string; version: string } | null {
  const envelope: Record<string, unknown> | undefined = ctx.mcpReq.envelope;
  const sent = envelope?.[CLIENT_INFO_META_KEY] as Partial<Implementation> | undefined;
  const info = sent ?? server.getClientVersion();
  if (info === undefined && envelope === undefined) return null;
  return { name: bounded(info?.name), version: bounded(info?.version) };
}

/** The daemon refuses longer names; a client with a long one must still be able to ask. */
function bounded(text: unknown): string {
  return typeof text === "string" ? text.slice(0, MAX_AGENT_CHARACTERS).toWellFormed() : "";
}
