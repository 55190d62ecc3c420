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
  await h.deny(doc.id);
  const ran = await running;
  assert.equal(ran.code, 4);
  const { error } = JSON.parse(ran.stdout);
  assert.deepEqual([error.kind, error.request_id, error.fingerprint], ["denied", doc.id, words]);
  assert.ok(ran.stderr.endsWith(` (request ${doc.id}, fingerprint: ${words})\n`), ran.stderr);
});

/** What a daemon that has lost the words says to calls that ask, by method. */
function forgetful(method: string): Record<string, unknown> {
  const request = { request_id: newId(), status: "pending", expires_ms: 1_900_000_000_000, delivery: "sent" };
  if (method === "access.status") return { ...request, type: "access" };
  if (method !== "http.request") return request;
  const answer = { status_code: 200, headers: [], body: BODY, body_encoding: "utf8" };
  return { request_id: newId(), ...answer, truncated: false, redactions: 0, received_bytes: BODY.length };
}

const BODY = "nobody-answered-this";

/** Where the words are missing. */
type Forgets = "the result" | "the error" | "what is waited for";

/** A streamed answer without words: its head (kind 1), or what it waits for (kind 5), then a body (2) and an end (3). */
function streamed(forgets: Forgets): Response {
  const frames: [number, string][] = [
    forgets === "the result"
      ? [1, JSON.stringify({ request_id: newId(), status_code: 200, headers: [] })]
      : [5, JSON.stringify({ request_id: newId() })],
    [2, BODY],
    [3, JSON.stringify({ truncated: false, redactions: 0, received_bytes: BODY.length })],
  ];
  const parts = frames.map(([kind, text]) => {
    const bytes = new TextEncoder().encode(text);
    const frame = new Uint8Array(5 + bytes.length);
    frame[0] = kind;
    new DataView(frame.buffer).setUint32(1, bytes.length);
    frame.set(bytes, 5);
    return frame;
  });
  return new Response(new Blob(parts), { headers: { "content-type": "application/vnd.custos.stream" } });
}

Deno.test("a daemon reply without a fingerprint is outcome_unknown and exit code 5, and never a success", async () => {
  const folder = await Deno.makeTempDir({ prefix: "custos-e2e-" });
  const values = placesIn(folder, { profile: "lan" });
  await Deno.mkdir(`${folder}/run`, { mode: 0o700 });
  let calls = 0;
  let forgets: Forgets = "the result";
  const stop = new AbortController();
  const server = Deno.serve(
    { path: values.socket, transport: "unix", onListen() {}, signal: stop.signal },
    async (request) => {
      calls++;
      const stream = new URL(request.url).pathname === "/http";
      const { method, id } = JSON.parse(await request.text());
      if (stream && forgets !== "the error") return streamed(forgets);
      const error = { code: -32000, message: "No.", data: { kind: "denied", request_id: newId() } };
      const said = forgets === "the error" ? { error } : { result: forgetful(method) };
      return Response.json({ jsonrpc: "2.0", id: id ?? null, ...said });
    },
  );
  try {
    const url = "https://api.example.test/v1/x";
    const http = ["http", "--handle", "custos:x"];
    const rows: [string[], Forgets[]][] = [
      [["request", "custos:x", "--reason", "r", "--wait", "0"], ["the result", "the error"]],
      [["drop", "x", "--reason", "r", "--wait", "0"], ["the result", "the error"]],
      [[...http, url], ["the result", "the error", "what is waited for"]],
      [[...http, "--json", url], ["the result", "the error", "what is waited for"]],
    ];
    for (const [args, all] of rows) {
      for (forgets of all) {
        calls = 0;
        const ran = await custos(values, "trusting", args);
        assert.equal(ran.code, 5, `${args}: ${ran.stderr}`);
        assert.match(ran.stderr, /^custos: outcome_unknown: /, args.join(" "));
        assert.ok(!ran.stdout.includes(BODY), "nothing of the answer is passed on");
        assert.equal(calls, 1, "sent once");
      }
    }
    forgets = "the result";
    const read = await custos(values, "trusting", ["wait", newId(), "--wait", "0"]);
    assert.deepEqual([read.code, /^custos: internal: /.test(read.stderr)], [5, true], "a poll only reads");

    await using mcp = await McpAgent.start(values, "trusting");
    const tools: [string, Record<string, unknown>][] = [
      ["http_request", { handle: "custos:x", reason: "r", url }],
      ["request_access", { handle: "custos:x", reason: "r" }],
      ["request_secret_from_human", { name: "x", reason: "r" }],
    ];
    for (const [tool, args] of tools) {
      const { error, fields, text } = await mcp.call(tool, args);
      assert.deepEqual([error, fields["error"]], [true, "outcome_unknown"], tool);
      assert.ok(!text.includes(BODY));
    }
  } finally {
    stop.abort();
    await server.finished;
    await Deno.remove(folder, { recursive: true });
  }
});
