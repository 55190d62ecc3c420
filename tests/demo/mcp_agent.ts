/** An agent that speaks MCP: the real version 1 client over the stdio of a real `custos-mcp` process. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { launch } from "../../_tools/launch.ts";
import type { Values } from "../../_tools/permissions.ts";

type Message = Parameters<NonNullable<Client["transport"]>["send"]>[0];

/** What a tool answered. */
export interface ToolAnswer {
  isError: boolean;
  data: Record<string, unknown>;
  text: string;
}

/** A connected agent. */
export class McpAgent {
  readonly #client: Client;
  readonly #child: Deno.ChildProcess;
  /** Every byte that the server wrote, for the leak check. */
  readonly seen: string[];

  private constructor(client: Client, child: Deno.ChildProcess, seen: string[]) {
    this.#client = client;
    this.#child = child;
    this.seen = seen;
  }

  /** Starts the server under its real flags and shakes hands. */
  static async start(values: Values, name: string): Promise<McpAgent> {
    const env = { CUSTOS_SOCKET: values.socket, CUSTOS_AGENT: name };
    const child = launch("mcp", values, { env, stdin: "piped", stdout: "piped" });
    const seen: string[] = [];
    const client = new Client({ name: "demo-agent", version: "1" });
    await client.connect(overPipes(child, seen));
    return new McpAgent(client, child, seen);
  }

  /** Calls a tool. */
  async call(name: string, args: Record<string, unknown>): Promise<ToolAnswer> {
    const result = await this.#client.callTool({ name, arguments: args });
    const content = (result.content ?? []) as { type: string; text?: string }[];
    return {
      isError: result.isError === true,
      data: (result.structuredContent ?? {}) as Record<string, unknown>,
      text: content.map((part) => part.text ?? "").join("\n"),
    };
  }

  /** Ends the session by closing stdin, as clients do. */
  async close(): Promise<number> {
    await this.#client.close();
    return (await this.#child.status).code;
  }
}

/** The client's transport: JSON lines over a child that `launch` started. */
function overPipes(child: Deno.ChildProcess, seen: string[]): NonNullable<Client["transport"]> {
  const writer = child.stdin.getWriter();
  const transport: NonNullable<Client["transport"]> = {
    start: () => {
      read();
      return Promise.resolve();
    },
    send: (message: Message) => writer.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`)),
    close: async () => {
      await writer.close().catch(() => {});
      transport.onclose?.();
    },
  };
  async function read(): Promise<void> {
    let rest = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      seen.push(chunk);
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) transport.onmessage?.(JSON.parse(line));
    }
  }
  return transport;
}
