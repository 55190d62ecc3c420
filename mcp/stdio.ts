/**
 * The MCP stdio transport over two byte streams. The SDK's own one skips lines that are not JSON and drops messages that
 * are not JSON-RPC without an answer, so this one takes its place (B86, B87). Whatever goes wrong with one line, the
 * session goes on; when the client goes, so does the session (B89).
 */

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { readFrame } from "./frames.ts";
import { type Line, LineSplitter } from "./lines.ts";

/** How long calls that are still at work may finish after the end of input, in ms. Below the 2 s of B89. */
const DRAIN_MS = 1_000;

/** Where the bytes come from and go to. */
export interface Pipes {
  readonly input: ReadableStream<Uint8Array>;
  readonly output: WritableStream<Uint8Array>;
}

/** A transport for `serveStdio`. `onclose` is called once, when the client is gone or after `close`. */
export class PipeTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];

  /** Resolves when the session has ended, after `onclose`. */
  readonly closed: Promise<void>;

  readonly #drainMs: number;
  readonly #ended: () => void;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines = new LineSplitter();
  readonly #encoder = new TextEncoder();
  readonly #unanswered = new Set<string | number>();
  #drained: (() => void) | null = null;
  #closed = false;

  /** `drain_ms`: how long calls at work may take after the end of input. */
  constructor(pipes: Pipes, drain_ms: number = DRAIN_MS) {
    this.#drainMs = drain_ms;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    this.#ended = resolve;
    this.#reader = pipes.input.getReader();
    this.#writer = pipes.output.getWriter();
    this.#writer.closed.catch(() => this.close()); // EPIPE: the client reads no more (B89)
  }

  /** Begins to read. */
  start(): Promise<void> {
    void this.#read();
    return Promise.resolve();
  }

  /** Writes one message as one line. Rejects once the transport is closed. */
  async send(message: JSONRPCMessage): Promise<void> {
    await this.#write(message);
    if ("id" in message && message.id !== undefined && !("method" in message)) this.#answered(message.id);
  }

  /** Ends the session. What is waiting for the daemon is abandoned, not withdrawn (DESIGN §5.2). */
  close(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#closed = true;
    this.#drained?.();
    this.#reader.cancel().catch(() => {});
    try {
      this.onclose?.();
    } finally {
      this.#ended();
    }
    return Promise.resolve();
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const { value, done } = await this.#reader.read();
        if (done) break;
        this.#take(this.#lines.push(value));
      }
      this.#take(this.#lines.flush());
      await this.#drain();
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error("Reading from the client failed."));
    }
    await this.close();
  }

  #take(lines: readonly Line[]): void {
    for (const line of lines) {
      const frame = readFrame(line);
      if (frame.kind === "refusal") this.#write(frame.refusal).catch(() => this.close());
      if (frame.kind !== "message") continue;
      const { message } = frame;
      if ("method" in message && "id" in message) this.#unanswered.add(message.id);
      if ("method" in message && message.method === "notifications/cancelled") this.#forget(message.params);
      this.onmessage?.(message);
    }
  }

  /** A cancelled call gets no answer (MCP, Cancellation), so the end of input does not wait for one. */
  #forget(params: unknown): void {
    const id = (params as { requestId?: unknown } | undefined)?.requestId;
    if (typeof id === "string" || typeof id === "number") this.#answered(id);
  }

  #answered(id: string | number): void {
    this.#unanswered.delete(id);
    if (this.#unanswered.size === 0) this.#drained?.();
  }

  /** Lets `printf … | custos-mcp` see its answers, without keeping a process whose client is gone. */
  async #drain(): Promise<void> {
    if (this.#unanswered.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#drained = resolve;
    const timer = setTimeout(resolve, this.#drainMs);
    await promise;
    clearTimeout(timer);
  }

  async #write(message: object): Promise<void> {
    if (this.#closed) throw new Error("The connection to the MCP client is closed.");
    await this.#writer.write(this.#encoder.encode(JSON.stringify(message) + "\n"));
  }
}
