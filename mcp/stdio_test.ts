import assert from "node:assert/strict";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { PipeTransport } from "./stdio.ts";

/** A transport between two streams: `type` writes to its input, `lines` is what it wrote. */
function piped(drain_ms = 600_000): {
  transport: PipeTransport;
  type: (text: string | Uint8Array) => Promise<void>;
  end: () => Promise<void>;
  messages: JSONRPCMessage[];
  lines: string[];
  breakOutput: () => void;
} {
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const writer = input.writable.getWriter();
  const lines: string[] = [];
  let broken: ((reason: Error) => void) | null = null;
  const output = new WritableStream<Uint8Array>({
    start(controller) {
      broken = (reason) => controller.error(reason);
    },
    write(chunk) {
      lines.push(new TextDecoder().decode(chunk));
    },
  });
  const transport = new PipeTransport({ input: input.readable, output }, drain_ms);
  const messages: JSONRPCMessage[] = [];
  transport.onmessage = (message) => messages.push(message);
  return {
    transport,
    messages,
    lines,
    type: (text) => writer.write(typeof text === "string" ? new TextEncoder().encode(text) : text),
    end: () => writer.close(),
    breakOutput: () => broken?.(new Error("EPIPE")),
  };
}

const ping = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;

Deno.test("PipeTransport goes on after lines that are not messages, and answers each (B86)", async () => {
  const { transport, type, end, messages, lines } = piped();
  await transport.start();
  await type('not json\n[]\n\nnull\n42\n{"id":7,"method":"x"}\n' + ping(1));
  await end();
  await Promise.resolve();
  for (let i = 0; i < 20 && messages.length === 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await transport.send({ jsonrpc: "2.0", id: 1, result: {} });
  await transport.closed;
  assert.deepEqual(messages.map((message) => (message as { id?: unknown }).id), [1]);
  const answers = lines.map((text) => JSON.parse(text));
  assert.deepEqual(answers.map(({ id, error }) => [id, error?.code]), [
    [null, -32700],
    [null, -32600],
    [null, -32600],
    [null, -32600],
    [7, -32600],
    [1, undefined],
  ]);
  assert.ok(lines.every((text) => text.endsWith("\n") && text.indexOf("\n") === text.length - 1));
});

Deno.test("PipeTransport lets a call that is at work answer after the end of input, then closes once", async () => {
  const { transport, type, end, lines } = piped();
  let closes = 0;
  transport.onclose = () => closes++;
  transport.onmessage = () => {
    setTimeout(() => void transport.send({ jsonrpc: "2.0", id: 5, result: {} }), 5);
  };
  await transport.start();
  await type(ping(5));
  await end();
  await transport.closed;
  await transport.close();
  assert.equal(closes, 1);
  assert.deepEqual(lines.map((text) => JSON.parse(text).id), [5]);
});

Deno.test("PipeTransport closes although a call never answers (B89)", async () => {
  const { transport, type, end } = piped(1);
  await transport.start();
  await type(ping(5));
  await end();
  await transport.closed; // by its own time limit
  await assert.rejects(transport.send({ jsonrpc: "2.0", id: 5, result: {} }), /closed/);
});

Deno.test("PipeTransport does not wait at the end of input for a call that was cancelled", async () => {
  const { transport, type, end } = piped();
  await transport.start();
  await type(ping(5));
  await type('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}\n');
  await end();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("it waits for the cancelled call")), 20_000);
  await Promise.race([transport.closed, late.promise]);
  clearTimeout(timer);
});

Deno.test("PipeTransport closes when nobody reads its output (B89)", async () => {
  const { transport, breakOutput } = piped();
  await transport.start();
  breakOutput();
  await transport.closed;
  await assert.rejects(transport.send({ jsonrpc: "2.0", method: "x" }), /closed/);
});

Deno.test("PipeTransport reads text whose characters are cut by the reads (B93)", async () => {
  const { transport, type, end, messages } = piped();
  await transport.start();
  const text = '{"jsonrpc":"2.0","method":"x","params":{"body":"žluťoučký 🐎"}}\n';
  for (const byte of new TextEncoder().encode(text)) await type(Uint8Array.of(byte));
  await end();
  await transport.closed;
  assert.equal((messages[0] as { params?: { body?: string } }).params?.body, "žluťoučký 🐎");
});
