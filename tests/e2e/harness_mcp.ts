/** An agent that speaks MCP: the SDK's version 1 client, which custos did not write, over the stdio of a real server. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { commandLine, ROOT } from "@custos/tools/launch";
import type { Values } from "@custos/tools/permissions";

type Message = Parameters<StdioClientTransport["send"]>[0];

/** What a tool answered. */
export interface ToolAnswer {
  error: boolean;
  fields: Record<string, unknown>;
  text: string;
}

/** A connected agent. */
export class McpAgent implements AsyncDisposable {
  /** Every message that the server sent, and all that it wrote to stderr. */
  readonly frames: string[] = [];

  private constructor(readonly client: Client) {}

  /** Starts a server under its declared flags and shakes hands. */
  static async start(values: Values, agent: string, audit_file?: string): Promise<McpAgent> {
    const client = new Client({ name: "end-to-end", version: "1" });
    const mcp = new McpAgent(client);
    const cache = Deno.env.get("DENO_DIR");
    const transport = new StdioClientTransport({
      command: "deno",
      args: commandLine("mcp", values),
      cwd: ROOT,
      stderr: "pipe",
      env: {
        ...getDefaultEnvironment(),
        CUSTOS_AGENT: agent,
        CUSTOS_SOCKET: values.socket,
        ...(cache === undefined ? {} : { DENO_DIR: cache }),
        ...(audit_file === undefined ? {} : { DENO_AUDIT_PERMISSIONS: audit_file }),
      },
    });
    transport.stderr?.on("data", (part: Uint8Array) => mcp.frames.push(new TextDecoder().decode(part)));
    await client.connect(transport);
    const receive = transport.onmessage;
    transport.onmessage = (message: Message) => {
      mcp.frames.push(JSON.stringify(message));
      receive?.(message);
    };
    await client.listTools(); // from here on the client checks results against their schemas, errors too
    return mcp;
  }

  /** Calls a tool, without waiting for the person unless told to. */
  async call(name: string, args: Record<string, unknown>): Promise<ToolAnswer> {
    const result = await this.client.callTool({ name, arguments: { wait_seconds: 0, ...args } });
    const content = (result.content ?? []) as { text?: string }[];
    return {
      error: result.isError === true,
      fields: (result.structuredContent ?? {}) as Record<string, unknown>,
      text: content.map((part) => part.text ?? "").join("\n"),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}
