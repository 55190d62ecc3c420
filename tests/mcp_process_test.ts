/** The MCP server as a process under its real flags, with its pipes in the test's hands: bad input, and the client's end. */

import assert from "node:assert/strict";
import type { HttpParams } from "@custos/rpc/http_schemas";
import { launch } from "@custos/tools/launch";
import { placesIn } from "@custos/tools/paths";
import type { Values } from "@custos/tools/permissions";
import { answer, daemon, fieldsOf, status } from "./mcp_fake_daemon.ts";

const get = {
  handle: "custos:github",
  reason: "List the open issues.",
  url: "https://api.github.test/issues",
};

/** The server as a process whose pipes the test holds. */
function start(values: Values) {
  const child = launch("mcp", values, {
    args: ["--socket", values.socket],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
  const writer = child.stdin.getWriter();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  return {
    child,
    write: (text: string) => writer.write(new TextEncoder().encode(text)),
    writeBytes: (bytes: Uint8Array) => writer.write(bytes),
    endInput: () => writer.close(),
    endOutput: () => reader.cancel(),
    /** The next line of output as JSON; fails on a line that is not JSON-RPC (B85), `null` at the end. */
    async line(): Promise<Record<string, unknown> | null> {
      while (!rest.includes("\n")) {
        const { value, done } = await reader.read();
        if (done) return null;
        rest += value;
      }
      const end = rest.indexOf("\n");
      const message = JSON.parse(rest.slice(0, end));
      rest = rest.slice(end + 1);
      assert.equal(message.jsonrpc, "2.0");
      return message;
    },
    async errors(): Promise<string> {
      return await new Response(child.stderr).text();
    },
  };
}

const message = (id: number, method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n";
const hello = message(0, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
});
/** Sends `initialize`, and fails where the server did not even start. */
async function begin(server: ReturnType<typeof start>): Promise<void> {
  await server.write(hello);
  assert.ok((await server.line())?.result, "the server answers initialize");
}
const tool = (id: number, name: string, args: object) => message(id, "tools/call", { name, arguments: args });

Deno.test("the MCP process goes on after malformed lines, and writes nothing but the protocol (B85, B86, B87)", async () => {
  await using fake = await daemon({});
  await Deno.remove(fake.values.socket); // and the daemon cannot be reached
  const server = start(fake.values);
  await begin(server);
  await server.write(
    'not json\n{"jsonrpc":"2.0","method":"x","params":\n\ufeff' + message(1, "ping") + "\n[]\nnull\n42\n",
  );
  await server.write(
    '{"id":99,"method":"tools/call"}\n{"jsonrpc":"2.0","id":100,"method":"tools/call","params":"x"}\n',
  );
  await server.write(tool(2, "list_handles", {}) + tool(3, "no_such_tool", {}) + message(4, "ping"));
  await server.endInput();
  const seen = new Map<unknown, Record<string, unknown>[]>();
  for (let line = await server.line(); line !== null; line = await server.line()) {
    seen.set(line.id, [...(seen.get(line.id) ?? []), line]);
  }
  const codes = (id: unknown) =>
    seen.get(id)?.map(({ error }) => (error as { code: number } | undefined)?.code);
  assert.deepEqual(codes(null), [-32700, -32700, -32600, -32600, -32600]);
  assert.deepEqual([codes(99), codes(100), codes(3)], [[-32600], [-32600], [-32602]]);
  assert.deepEqual([codes(1), codes(4)], [[undefined], [undefined]]);
  const result = seen.get(2)![0]!.result as { isError: boolean };
  assert.equal(result.isError, true);
  assert.equal(fieldsOf(result).error, "daemon_unreachable");
  assert.equal((await server.child.status).code, 0);
  assert.equal(await server.errors(), "");
});

Deno.test("the MCP process hands on text whose characters are cut at every byte (B93)", async () => {
  const bodies: HttpParams[] = [];
  await using fake = await daemon({
    "http.request": (params) => {
      bodies.push(params);
      return Promise.resolve(answer(params.body!.data));
    },
  });
  const server = start(fake.values);
  await begin(server);
  const body = "žluťoučký 🐎";
  const call = tool(1, "http_request", { ...get, method: "POST", body });
  for (const byte of new TextEncoder().encode(call)) await server.writeBytes(Uint8Array.of(byte));
  const { result } = (await server.line())!;
  assert.equal(fieldsOf(result).body, body);
  assert.deepEqual(bodies.map((params) => params.body), [{ encoding: "utf8", data: body }]);
  await server.endInput();
  await server.child.status;
  await server.errors();
  await server.endOutput();
});

Deno.test("the MCP process ends when its client goes, idle or waiting, and withdraws nothing (B89)", async () => {
  const rows = ["idle, input ends", "waiting, input ends", "waiting, nobody reads"] as const;
  for (const row of rows) {
    const asked = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const { type, ...filed } = status();
    await using fake = await daemon({
      "access.status": (_params, signal) => {
        if (row === "waiting, nobody reads") {
          asked.resolve();
          return Promise.resolve({ ...filed, type, request_id: _params.request_id });
        }
        signal.addEventListener("abort", () => left.resolve());
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const server = start(fake.values);
    await begin(server);
    if (row !== "idle, input ends") {
      const params = { name: "request_access", arguments: { request_id: filed.request_id } };
      await server.write(message(1, "tools/call", { ...params, _meta: { progressToken: "p" } }));
      await asked.promise;
    }
    if (row === "waiting, nobody reads") await server.endOutput();
    else await server.endInput();
    assert.equal((await server.child.status).code, 0, row);
    if (row === "waiting, input ends") await left.promise;
    assert.ok(fake.calls.every(({ method }) => method === "access.status"), row);
    assert.equal(await server.errors(), "", row);
    await (row === "waiting, nobody reads" ? server.endInput().catch(() => {}) : server.endOutput());
  }
});

Deno.test("the MCP process ends on SIGUSR1, with which the runtime would open its inspector (DESIGN §3)", async () => {
  await using fake = await daemon({});
  const server = start(fake.values);
  await begin(server);
  server.child.kill("SIGUSR1");
  assert.notEqual((await server.child.status).code, 0);
  assert.equal(await server.errors(), "");
  await server.endInput().catch(() => {});
  await server.endOutput();
});

Deno.test("the MCP process refuses arguments that it does not know, and shows its help", async () => {
  const values = placesIn("/tmp/custos-mcp-none", { profile: "lan" });
  for (
    const [args, code, out, err] of [[["--sokcet", "x"], 2, "", /There is no option/], [
      ["--help"],
      0,
      "custos-mcp",
      /^$/,
    ]] as const
  ) {
    const child = launch("mcp", values, { args, stdout: "piped", stderr: "piped" });
    const [stdout, stderr] = await Promise.all(
      [child.stdout, child.stderr].map((s) => new Response(s).text()),
    );
    assert.equal((await child.status).code, code);
    assert.ok(stdout!.startsWith(out) && (out !== "" || stdout === ""));
    assert.match(stderr!, err);
  }
});
