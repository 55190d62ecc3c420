import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import { Client, type FetchLike } from "./client.ts";
import { ACTS, type MethodName, type Params } from "./methods.ts";
import { RpcError } from "./rpc_error.ts";
import { dispatchText } from "./server.ts";
import { streamErrorResponse, streamResponse } from "./stream.ts";

const id = newId();
const words = "rocket velvet oasis";
const httpParams = { handle: "custos:x", method: "GET", url: "https://x.test/", reason: "y" };

const answering = (body: unknown, type = "application/json"): Client => {
  const fetch: FetchLike = () =>
    Promise.resolve(
      new Response(typeof body === "string" ? body : JSON.stringify(body), {
        headers: { "content-type": type },
      }),
    );
  return new Client({ socket: "/nowhere", fetch });
};
const kind = (expected: string, text = /./) => (error: unknown) =>
  error instanceof RpcError && error.kind === expected && text.test(error.message);

async function withServer(
  serve: (request: Request) => Response | Promise<Response>,
  use: (client: Client, socket: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "custos-rpc-" });
  const socket = `${folder}/s`;
  const server = Deno.serve({ path: socket, transport: "unix", onListen() {} }, serve);
  try {
    using client = new Client({ socket });
    await use(client, socket);
  } finally {
    await server.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("Client.call() goes over the unix socket and returns the typed result", async () => {
  await withServer(
    async (request) => {
      assert.equal(new URL(request.url).pathname, "/rpc");
      const handlers = { "daemon.lock": () => Promise.resolve({ revoked: 3, cells: 1 }) };
      return Response.json(await dispatchText(handlers, await request.text(), null));
    },
    async (client) => {
      for (let i = 0; i < 3; i++) {
        assert.deepEqual(await client.call("daemon.lock", {}), { revoked: 3, cells: 1 });
      }
    },
  );
});

Deno.test("Client.call() says daemon_unreachable for no socket, a dead socket, and a socket it may not open", async () => {
  const folder = await Deno.makeTempDir({ prefix: "custos-rpc-" });
  await Deno.writeTextFile(`${folder}/dead`, "");
  for (const [name, text] of [["none", /There is no socket/], ["dead", /Nobody answers/]] as const) {
    using client = new Client({ socket: `${folder}/${name}` });
    await assert.rejects(client.call("http.request", httpParams), kind("daemon_unreachable", text));
    await assert.rejects(client.call("handles.list", {}), kind("daemon_unreachable", /--socket/));
  }
  await Deno.remove(folder, { recursive: true });
  using long = new Client({ socket: `/${"x".repeat(200)}` });
  await assert.rejects(long.call("handles.list", {}), kind("daemon_unreachable", /103 bytes/)); // B184
});

Deno.test("Client.call() never sends twice when the daemon closes without an answer", async () => {
  const folder = await Deno.makeTempDir({ prefix: "custos-rpc-" });
  const listener = Deno.listen({ transport: "unix", path: `${folder}/s` });
  let connections = 0;
  const accepting = (async () => {
    for await (const connection of listener) {
      connections++;
      await connection.read(new Uint8Array(65_536));
      connection.close();
    }
  })();
  using client = new Client({ socket: `${folder}/s` });
  await assert.rejects(
    client.call("http.request", httpParams),
    kind("outcome_unknown", /does not send it again/),
  );
  await assert.rejects(client.streamHttp(httpParams), kind("outcome_unknown"));
  await assert.rejects(client.call("access.status", { request_id: id }), kind("internal", /only reads/));
  assert.equal(connections, 3);
  listener.close();
  await accepting;
  await Deno.remove(folder, { recursive: true });
});

Deno.test("Client.call() makes of an answer that does not decode what its method's row says", async () => {
  const request = { request_id: id, status: "pending", expires_ms: 1, delivery: "sent" }; // no fingerprint
  const access = { handle: "custos:x", reason: "y" };
  const http = {
    request_id: id,
    status_code: 200,
    headers: [],
    body: "",
    body_encoding: "utf8",
    truncated: false,
    redactions: 0,
    received_bytes: 0,
  };
  const policy = {
    v: 1,
    secret_id: id,
    name: "x",
    version: 1,
    prev: null,
    origins: ["https://x.test"],
    rules: [{ methods: ["GET"], path_prefix: "/" }],
    placement: { kind: "bearer" },
    request_hash: null,
    limits: { max_seconds: 1, max_body_bytes: 0, private_network: false },
    epoch: id,
    created_ms: 1,
  };
  const rows: [MethodName, unknown, unknown][] = [
    ["access.request", access, request],
    ["access.status", { request_id: id }, { ...request, type: "access" }],
    ["access.withdraw", { request_id: id }, { request_id: id, status: "withdrawn", detached: false }],
    ["drop.request", { name: "x", reason: "y" }, request],
    ["secret.propose", { sealed: "AA", policy, reason: "y" }, request],
    ["http.request", httpParams, http],
  ];
  for (const [method, params, result] of rows) {
    const expected = ACTS[method] ? "outcome_unknown" : "internal";
    const client = answering({ jsonrpc: "2.0", id: 1, result });
    await assert.rejects(
      client.call(method, params as Params<typeof method>),
      kind(expected, /agreed form/),
      method,
    );
    const good = answering({ jsonrpc: "2.0", id: 1, result: { ...(result as object), fingerprint: words } });
    await good.call(method, params as Params<typeof method>);
  }
});

Deno.test("Client.call() takes an error only with both id and words", async () => {
  const { error } = RpcError.needsApproval(id, words).toJsonRpc(1);
  const good = answering({ jsonrpc: "2.0", id: 1, error });
  await assert.rejects(
    good.call("http.request", httpParams),
    (thrown) => kind("needs_approval")(thrown) && (thrown as RpcError).request?.fingerprint === words,
  );
  const { fingerprint: _words, ...data } = error.data;
  const bad = answering({ jsonrpc: "2.0", id: 1, error: { ...error, data } });
  await assert.rejects(bad.call("http.request", httpParams), kind("outcome_unknown"));
  await assert.rejects(bad.call("handles.list", {}), kind("internal"));
});

Deno.test("Client.call() refuses replies that are not JSON-RPC", async () => {
  const rows: unknown[] = [
    "",
    "<html>",
    "null",
    {},
    { jsonrpc: "2.0", id: 1 },
    { jsonrpc: "2.0", id: 2, result: { revoked: 0, cells: 0 } },
    { jsonrpc: "2.0", id: 1, result: { revoked: 0, cells: 0 }, error: { code: 1 } },
    { jsonrpc: "2.0", id: 1, result: { revoked: 0, cells: 0 }, extra: 1 },
    { jsonrpc: "2.0", id: 1, result: { revoked: 0, cells: 0, extra: 1 } },
  ];
  for (const body of rows) {
    await assert.rejects(
      answering(body).call("daemon.lock", {}),
      kind("outcome_unknown"),
      JSON.stringify(body),
    );
  }
});

Deno.test("Client.call() refuses bad params before it opens anything", async () => {
  let calls = 0;
  const fetch: FetchLike = () => {
    calls++;
    return Promise.reject(new Error("not reached"));
  };
  const client = new Client({ socket: "/x", fetch });
  await assert.rejects(client.call("http.request", { ...httpParams, reason: " " }), kind("bad_request"));
  await assert.rejects(client.streamHttp({ ...httpParams, wait_ms: 999_999 }), kind("bad_request"));
  assert.equal(calls, 0);
});

Deno.test("Client.call() rejects with the signal's reason when its caller leaves", async () => {
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  const { promise: held, resolve: release } = Promise.withResolvers<Response>();
  await withServer(
    () => {
      resolve();
      return held;
    },
    async (client) => {
      const controller = new AbortController();
      const call = client.call("http.request", httpParams, { signal: controller.signal });
      await arrived;
      controller.abort(new Error("the user left"));
      await assert.rejects(call, /the user left/);
      release(new Response("{}"));
    },
  );
});

Deno.test("Client.streamHttp() streams, and takes an ordinary error before the head", async () => {
  const head = { request_id: id, fingerprint: words, status_code: 201, headers: [] };
  const end = { truncated: false, redactions: 1, received_bytes: 5 };
  await withServer(
    async (request) => {
      assert.equal(new URL(request.url).pathname, "/http");
      const params = await request.json();
      return params.reason === "no"
        ? streamErrorResponse(RpcError.needsApproval(id, words))
        : streamResponse(head, ReadableStream.from([new TextEncoder().encode("hello")]), () => end);
    },
    async (client) => {
      const answer = await client.streamHttp(httpParams);
      assert.deepEqual(answer.head, head);
      assert.equal(await new Response(answer.body).text(), "hello");
      assert.deepEqual(answer.end(), end);
      await assert.rejects(client.streamHttp({ ...httpParams, reason: "no" }), kind("needs_approval"));
    },
  );
  await assert.rejects(answering("{}", "text/plain").streamHttp(httpParams), kind("outcome_unknown"));
});
