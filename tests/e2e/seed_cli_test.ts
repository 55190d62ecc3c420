/** The decisions of ADR 0005 as `custos` keeps them at a terminal, and against a daemon that forgets the words. */

import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import { placesIn } from "@custos/tools/paths";
import { HANDLE, SHARED, shareHouse } from "./harness.ts";
import { McpAgent } from "./harness_mcp.ts";
import { custos } from "./harness_process.ts";
import { custosAtTerminal } from "./harness_terminal.ts";
import { soon } from "./harness_wait.ts";

const house = shareHouse();

Deno.test(
  "custos http shows the fingerprint on the controlling terminal while stdout and stderr are files, and exits 3",
  SHARED,
  async () => {
    const h = house();
    const args = ["http", "--wait", "0", `${h.api.origin}/terminal`];
    const ran = await soon(custosAtTerminal(h.values, "at a terminal", args, h.folder));
    const { message: { doc }, words } = await h.cardFor("/terminal");
    assert.equal(ran.code, 3, ran.stderr);
    assert.equal(ran.terminal.replaceAll("\r", ""), `Request ${doc.id}  fingerprint: ${words}\n`);
    assert.equal(ran.stdout, "");
    assert.match(ran.stderr, /^custos: needs_approval: /);
    assert.ok(ran.stderr.endsWith(` (request ${doc.id}, fingerprint: ${words})\n`), ran.stderr);
  },
);

Deno.test("custos http shows the words while it waits, and then the answer", SHARED, async () => {
  const h = house();
  const args = ["http", "--wait", "60", `${h.api.origin}/terminal/waits`];
  const running = custosAtTerminal(
    h.values,
    "at a terminal",
    args,
    await Deno.makeTempDir({ dir: h.folder }),
  );
  const { message: { doc }, words } = await h.cardFor("/terminal/waits");
  await h.approve(doc.id);
  const ran = await running;
  assert.deepEqual([ran.code, ran.stdout, ran.stderr], [0, "ok", ""]);
  assert.equal(ran.terminal.replaceAll("\r", ""), `Request ${doc.id}  fingerprint: ${words}\n`);
});

Deno.test(
  "custos --wait 0 returns at once with the words and leaves the request pending",
  SHARED,
  async () => {
    const h = house();
    const rows: string[][] = [
      ["http", "--wait", "0", `${h.api.origin}/cli/now`],
      ["request", HANDLE, "--reason", "look", "--wait", "0"],
      ["drop", "cli-now", "--reason", "look", "--wait", "0"],
    ];
    for (const args of rows) {
      const ran = await soon(h.custos(`now ${args[0]}`, args));
      assert.equal(ran.code, 3, ran.stderr);
      const [, id, words] = /^Request (\S+) {2}fingerprint: (.+)$/m.exec(ran.stderr) ?? [];
      const status = await h.client.call("access.status", { request_id: id! });
      assert.deepEqual([status.status, status.fingerprint], ["pending", words], args[0]);
      const waited = await h.custos("anybody", ["wait", id!, "--wait", "0", "--json"]);
      assert.equal(waited.code, 3);
      assert.deepEqual(JSON.parse(waited.stdout).fingerprint, words);
    }
  },
);

Deno.test("custos names the request in every error about one", SHARED, async () => {
  const h = house();
  const running = h.custos("names", ["http", `${h.api.origin}/cli/denied`, "--json"]);
  const { message: { doc }, words } = await h.cardFor("/cli/denied");
  await h.logged("request_joined", { id: doc.id }); // the command shows the words first, then waits
  await h.deny(doc.id);
  const ran = await running;
  assert.equal(ran.code, 4);
  const { error } = JSON.parse(ran.stdout);
  assert.deepEqual([error.kind, error.request_id, error.fingerprint], ["denied", doc.id, words]);
  assert.ok(ran.stderr.endsWith(` (request ${doc.id}, fingerprint: ${words})\n`), ran.stderr);
});

/** What a daemon that has lost the words says, by method. */
function forgetful(method: string): Record<string, unknown> {
  const request = { request_id: newId(), status: "pending", expires_ms: 1_900_000_000_000, delivery: "sent" };
  if (method === "access.status") return { result: { ...request, type: "access" } };
  if (method !== "http.request") return { result: request };
  const answer = { status_code: 200, headers: [], body: "the answer", body_encoding: "utf8" };
  const end = { truncated: false, redactions: 0, received_bytes: 10 };
  return { result: { request_id: newId(), ...answer, ...end } };
}

Deno.test("a daemon reply without a fingerprint is outcome_unknown and exit code 5, and never a success", async () => {
  const folder = await Deno.makeTempDir({ prefix: "custos-e2e-" });
  const values = placesIn(folder, { profile: "lan" });
  await Deno.mkdir(`${folder}/run`, { mode: 0o700 });
  let calls: string[] = [];
  let asError = false;
  const stop = new AbortController();
  const server = Deno.serve(
    { path: values.socket, transport: "unix", onListen() {}, signal: stop.signal },
    async (request) => {
      if (new URL(request.url).pathname === "/http") {
        calls.push("http.request");
        await request.body?.cancel();
        return streamed();
      }
      const { method, id } = await request.json();
      calls.push(method);
      const data = { kind: "denied", request_id: newId() };
      const said = asError ? { error: { code: -32000, message: "No.", data } } : forgetful(method);
      return Response.json({ jsonrpc: "2.0", id, ...said });
    },
  );
  try {
    const url = "https://api.example.test/v1/x";
    const acts: string[][] = [
      ["request", "custos:x", "--reason", "r", "--wait", "0"],
      ["drop", "x", "--reason", "r", "--wait", "0"],
      ["http", "--handle", "custos:x", url],
      ["http", "--handle", "custos:x", "--json", url],
    ];
    for (const args of acts) {
      for (asError of [false, true]) {
        calls = [];
        const ran = await custos(values, "trusting", args);
        assert.equal(ran.code, 5, `${args}: ${ran.stderr}`);
        assert.match(ran.stderr, /^custos: outcome_unknown: /, args.join(" "));
        assert.ok(!ran.stdout.includes("the answer"), "nothing of the answer is passed on");
        assert.equal(calls.length, 1, "sent once");
      }
    }
    asError = false;
    const read = await custos(values, "trusting", ["wait", newId(), "--wait", "0"]);
    assert.deepEqual([read.code, /^custos: internal: /.test(read.stderr)], [5, true], "a poll only reads");

    await using mcp = await McpAgent.start(values, "trusting");
    for (
      const [tool, args] of [
        ["http_request", { handle: "custos:x", reason: "r", url }],
        ["request_access", { handle: "custos:x", reason: "r" }],
        ["request_secret_from_human", { name: "x", reason: "r" }],
      ] as const
    ) {
      const { error, fields } = await mcp.call(tool, args);
      assert.deepEqual([error, fields["error"]], [true, "outcome_unknown"], tool);
    }
  } finally {
    stop.abort();
    await server.finished;
    await Deno.remove(folder, { recursive: true });
  }
});

/** A streamed answer whose head lacks the words: kind 1, length, JSON. */
function streamed(): Response {
  const head = new TextEncoder().encode(
    JSON.stringify({ request_id: newId(), status_code: 200, headers: [] }),
  );
  const frame = new Uint8Array(5 + head.length);
  frame[0] = 1;
  new DataView(frame.buffer).setUint32(1, head.length);
  frame.set(head, 5);
  return new Response(frame, { headers: { "content-type": "application/vnd.custos.stream" } });
}
