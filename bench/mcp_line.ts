/** An MCP server as a process whose pipes are in the bench's hands: nothing of a client library is measured. */

import { launch } from "../_tools/launch.ts";
import type { Values } from "../_tools/permissions.ts";

/** One server. */
export class McpLine implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = "";
  #id = 0;

  constructor(values: Values, agent: string) {
    const env = { CUSTOS_AGENT: agent, CUSTOS_SOCKET: values.socket };
    this.#child = launch("mcp", values, { env, stdin: "piped", stdout: "piped", stderr: "null" });
    this.#writer = this.#child.stdin.getWriter();
    this.#reader = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Shakes hands. */
  async initialize(): Promise<void> {
    const clientInfo = { name: "bench", version: "1" };
    await this.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    await this.#write({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  /** One request and its result. */
  async ask(method: string, params: object): Promise<Record<string, unknown>> {
    const id = ++this.#id;
    await this.#write({ jsonrpc: "2.0", id, method, params });
    for (;;) {
      const message = JSON.parse(await this.#line());
      if (message.id !== id) continue;
      if (message.error !== undefined) throw new Error(`${method}: ${JSON.stringify(message.error)}`);
      return message.result;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close();
    await this.#reader.cancel();
    await this.#child.status;
  }

  async #write(message: object): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(JSON.stringify(message) + "\n"));
  }

  async #line(): Promise<string> {
    while (!this.#rest.includes("\n")) {
      const { value, done } = await this.#reader.read();
      if (done) throw new Error("The MCP server ended.");
      this.#rest += value;
    }
    const end = this.#rest.indexOf("\n");
    const line = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end + 1);
    return line;
  }
}
