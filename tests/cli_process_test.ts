/** `custos` as a process under its real flags: its signals, its closed streams, and a body that does not fit in memory. */

import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import { streamResponse } from "@custos/rpc/stream";
import { launch } from "@custos/tools/launch";
import { placesIn } from "@custos/tools/paths";
import { type FakeAnswers, fakeDaemon } from "../cli/testing/fake_daemon.ts";

const id = newId();
const words = "rocket velvet oasis";
const head = { request_id: id, fingerprint: words, status_code: 200, headers: [] };
const url = "https://api.example.test/v1/x";

/** Starts `custos` against a fake daemon. */
function start(socket: string, args: string[], stdin: "null" | "piped" = "null"): Deno.ChildProcess {
  const folder = socket.slice(0, socket.lastIndexOf("/"));
  const values = { ...placesIn(folder), socket };
  return launch("cli", values, {
    args: ["--socket", socket, ...args],
    stdin,
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1" },
  });
}

async function ended(child: Deno.ChildProcess): Promise<{ code: number; out: string; err: string }> {
  const { code, stdout, stderr } = await child.output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

/** An answer of this many bytes, made as it is read. */
function large(size: number): Response {
  let left = size;
  const chunk = new Uint8Array(65_536).fill(97);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left <= 0) return controller.close();
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
    },
  }, { highWaterMark: 0 });
  return streamResponse(head, body, () => ({ truncated: false, redactions: 0, received_bytes: size }));
}

Deno.test("the custos process runs under exactly its flags, and puts the words on stderr without a terminal", async () => {
  const answers: FakeAnswers = {
    "handles.list": () => Promise.resolve({ handles: [] }),
    stream: () => large(200_000),
  };
  await using daemon = await fakeDaemon(answers);
  const listed = await ended(start(daemon.socket, ["handles", "--json"]));
  assert.deepEqual(listed, { code: 0, out: '{"handles":[]}\n', err: "" });
  const got = await ended(start(daemon.socket, ["http", "--handle", "x", url]));
  assert.deepEqual([got.code, got.out.length], [0, 200_000]);
  assert.equal(got.err, `Request ${id}  fingerprint: ${words}\n`);
  const version = await ended(start(daemon.socket, ["--version"]));
  assert.match(version.out, /^custos \d+\.\d+\.\d+\n$/);
});

Deno.test("the custos process exits on SIGUSR1, which would open the runtime's inspector", async () => {
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  const { promise: held, resolve: release } = Promise.withResolvers<{ grants: [] }>();
  await using daemon = await fakeDaemon({
    "grants.list": () => {
      resolve();
      return held;
    },
  });
  const child = start(daemon.socket, ["grants"]);
  await arrived;
  child.kill("SIGUSR1");
  const { code, err } = await ended(child);
  release({ grants: [] });
  assert.equal(code, 5);
  assert.doesNotMatch(err, /Debugger|ws:\/\//);
});

Deno.test("the custos process stops quietly when the reader of its stdout leaves", async () => {
  await using daemon = await fakeDaemon({ stream: () => large(50_000_000) });
  const child = start(daemon.socket, ["http", "--handle", "x", url]);
  const reader = child.stdout.getReader();
  await reader.read();
  await reader.cancel();
  const err = await new Response(child.stderr).text();
  assert.equal((await child.status).code, 0);
  assert.equal(err, `Request ${id}  fingerprint: ${words}\n`);
});

Deno.test("the custos process asks for nothing where stdin is closed (B109)", async () => {
  await using daemon = await fakeDaemon({});
  const { code, err } = await ended(start(daemon.socket, ["pair"]));
  assert.equal(code, 2);
  assert.match(err, /stdin is closed/);
  assert.equal(daemon.calls.length, 0);
});

Deno.test("the custos process reads a body from stdin", async () => {
  await using daemon = await fakeDaemon({ stream: () => large(1) });
  const child = start(daemon.socket, ["http", "--handle", "x", "-d", "@-", url], "piped");
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode('{"title":"Bug"}'));
  await writer.close();
  assert.equal((await ended(child)).code, 0);
  assert.deepEqual(daemon.calls[0]!.params.body, { encoding: "utf8", data: '{"title":"Bug"}' });
});
