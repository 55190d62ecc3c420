/**
 * The MCP server as a process under its real flags, driven by clients that custos did not write: the SDK's version 1 and
 * version 2. Only the daemon is a stand-in, over a real unix socket.
 */

import assert from "node:assert/strict";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { newId } from "@custos/core/ids";
import type { HttpResult } from "@custos/rpc/http_schemas";
import type { AccessStatusResult } from "@custos/rpc/request_schemas";
import { RpcError } from "@custos/rpc/rpc_error";
import { commandLine, ROOT } from "@custos/tools/launch";
import type { Values } from "@custos/tools/permissions";
import { answer, daemon, fieldsOf, status, WORDS } from "./mcp_fake_daemon.ts";

const ask = { handle: "custos:github", reason: "List the open issues." };
const get = { ...ask, url: "https://api.github.test/issues" };

/** A version 1 client that started its own server. */
async function connect(values: Values): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: "version one", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: "deno",
      args: commandLine("mcp", values, ["--agent", "tester", "--socket", values.socket]),
      cwd: ROOT,
      stderr: "inherit",
    }),
  );
  await client.listTools(); // from here on the client checks structured content against the output schemas
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

Deno.test("the MCP server gives every request result its words, as a version 1 client sees it", async () => {
  const id = newId();
  const drop = status({ type: "drop", request_id: id });
  const { type: _, ...filed } = drop;
  let end: AccessStatusResult = drop;
  let http: () => Promise<HttpResult> = () => Promise.reject(RpcError.needsApproval(id, WORDS));
  await using fake = await daemon({
    "access.request": () => Promise.resolve({ ...filed, status: end.status }),
    "drop.request": () => Promise.resolve({ ...filed, status: end.status }),
    "access.status": () => Promise.resolve(end),
    "http.request": () => http(),
  });
  await using client = await connect(fake.values);
  const call = async (name: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: { ...args, wait_seconds: 0 } });
    assert.equal(fieldsOf(result).request_id, id, name);
    assert.equal(fieldsOf(result).fingerprint, WORDS, name);
    const [block] = result.content as { text: string }[];
    assert.ok(block!.text.includes(id) && block!.text.includes(WORDS), name);
    return [fieldsOf(result).status, result.isError === true];
  };
  const asks: [string, Record<string, unknown>][] = [
    ["request_access", ask],
    ["request_access", { request_id: id }],
    ["request_secret_from_human", { name: "github", reason: "x" }],
    ["request_secret_from_human", { request_id: id }],
  ];
  for (const state of ["pending", "denied", "expired", "withdrawn"] as const) {
    end = { ...drop, status: state };
    for (const [name, args] of asks) assert.deepEqual(await call(name, args), [state, state !== "pending"]);
  }
  assert.deepEqual(await call("http_request", get), ["needs_approval", false]);
  for (const kind of ["denied", "expired", "withdrawn", "cooling_down"] as const) {
    http = () => Promise.reject(new RpcError(kind, "No.").withRequest(id, WORDS));
    assert.deepEqual(await call("http_request", get), [kind, true]);
  }
  http = () => Promise.reject(new RpcError("outcome_unknown", "Lost.").withRequest(id, WORDS));
  assert.deepEqual(await call("http_request", get), ["error", true]);
  http = () => Promise.resolve(answer("ok", { request_id: id }));
  assert.deepEqual(await call("http_request", get), ["answered", false]);
  assert.ok(fake.calls.every(({ method }) => method !== "access.withdraw"));
});

Deno.test("the MCP server delivers a late drop by a poll that creates nothing", async () => {
  const drop = status({ type: "drop" });
  const { type: _, ...filed } = drop;
  let end: AccessStatusResult = drop;
  await using fake = await daemon({
    "drop.request": () => Promise.resolve(filed),
    "access.status": () => Promise.resolve(end),
  });
  await using client = await connect(fake.values);
  const name = "request_secret_from_human";
  const first = await client.callTool({ name, arguments: { name: "github", reason: "x", wait_seconds: 1 } });
  assert.equal(fieldsOf(first).status, "pending");
  end = { ...drop, status: "delivered", handle: "custos:renamed" };
  const made = fake.calls.filter(({ method }) => method === "drop.request").length;
  const later = await client.callTool({ name, arguments: { request_id: fieldsOf(first).poll_request_id } });
  assert.deepEqual(
    [fieldsOf(later).status, fieldsOf(later).handle, fieldsOf(later).fingerprint],
    ["delivered", "custos:renamed", WORDS],
  );
  assert.equal(made, 1);
  assert.equal(fake.calls.filter(({ method }) => method === "drop.request").length, 1);
});

Deno.test("the MCP server ends the wait and not the request when a version 1 client cancels or gives up", async () => {
  const { type, ...filed } = status();
  let end: AccessStatusResult["status"] = "pending";
  let waiting = Promise.withResolvers<void>();
  let left = Promise.withResolvers<void>();
  await using fake = await daemon({
    "access.request": () => Promise.resolve(filed),
    "access.status": async (_params, signal) => {
      if (end === "pending") {
        signal.addEventListener("abort", () => left.resolve());
        waiting.resolve();
        await left.promise;
      }
      return { ...filed, type, status: end };
    },
  });
  await using client = await connect(fake.values);
  for (const how of ["cancels", "gives up"]) {
    waiting = Promise.withResolvers<void>();
    left = Promise.withResolvers<void>();
    const stop = new AbortController();
    const call = client.callTool(
      { name: "request_access", arguments: ask },
      undefined,
      how === "cancels" ? { signal: stop.signal } : { timeout: 3_000 },
    );
    const rejected = assert.rejects(call);
    await waiting.promise;
    if (how === "cancels") stop.abort("the user pressed stop");
    await rejected;
    await left.promise; // the daemon sees the caller leave
  }
  assert.deepEqual([...new Set(fake.calls.map(({ method }) => method))].sort(), [
    "access.request",
    "access.status",
  ]);
  end = "expired"; // the late answer can still be collected
  const late = await client.callTool({ name: "request_access", arguments: { request_id: filed.request_id } });
  assert.equal(fieldsOf(late).status, "expired");
});

Deno.test("the MCP server shortens a large answer and says its full size (B96)", async () => {
  await using fake = await daemon({
    "http.request": (params) =>
      Promise.resolve(
        answer("é".repeat(params.max_bytes! / 2), { truncated: true, received_bytes: 2_000_000 }),
      ),
  });
  await using client = await connect(fake.values);
  const result = await client.callTool({ name: "http_request", arguments: get });
  const { body, truncated, received_bytes, note } = fieldsOf(result);
  assert.equal(new TextEncoder().encode(String(body)).length, 60_000);
  assert.deepEqual([truncated, received_bytes], [true, 2_000_000]);
  assert.match(String(note), /2000000 bytes/);
  assert.equal(fake.calls.length, 1, "sent once");
});

Deno.test("the MCP server serves a version 2 client", async () => {
  await using fake = await daemon({ "http.request": () => Promise.resolve(answer("ok")) });
  // "auto" finds the revision of 2026-07-28, in which each request carries the client's name, and no initialize comes
  const client = new ClientV2({ name: "version two", version: "2" }, {
    versionNegotiation: { mode: "auto" },
  });
  await client.connect(
    new StdioV2({
      command: "deno",
      args: commandLine("mcp", fake.values, ["--socket", fake.values.socket]),
      cwd: ROOT,
      stderr: "inherit",
    }),
  );
  try {
    assert.equal((await client.listTools()).tools.length, 4);
    const result = await client.callTool({ name: "http_request", arguments: get });
    assert.equal(fieldsOf(result).status, "answered");
    assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
    assert.deepEqual(fake.calls[0]!.params.agent, {
      name: null,
      client: { name: "version two", version: "2" },
    });
  } finally {
    await client.close();
  }
});

Deno.test("five MCP servers at once each work, and end alone (B98)", async () => {
  await using fake = await daemon({ "handles.list": () => Promise.resolve({ handles: [] }) });
  const clients = await Promise.all([1, 2, 3, 4, 5].map(() => connect(fake.values)));
  const list = (client: Client) => client.callTool({ name: "list_handles", arguments: {} });
  for (const result of await Promise.all(clients.map(list))) assert.equal(fieldsOf(result).status, "ok");
  await clients[0]!.close();
  for (const result of await Promise.all(clients.slice(1).map(list))) {
    assert.equal(fieldsOf(result).status, "ok");
  }
  await Promise.all(clients.map((client: Client) => client.close()));
});
