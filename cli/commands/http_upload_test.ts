import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import { RpcError } from "@custos/rpc/rpc_error";
import { streamReply, type StreamSource } from "@custos/rpc/stream_reply";
import { streamResponse } from "@custos/rpc/stream";
import { fakeDaemon } from "../testing/fake_daemon.ts";
import { custos } from "../testing/fake_io.ts";

const id = newId();
const words = "rocket velvet oasis";
const line = `Request ${id}  fingerprint: ${words}\n`;
const ending = ` (request ${id}, fingerprint: ${words})\n`;
const url = "https://api.example.test/v1/x";
const http = (...args: string[]) => ["http", "--handle", "demo-key", ...args, url];

/** An answer with this body. */
function source(body: string): StreamSource {
  return {
    head: { request_id: id, fingerprint: words, status_code: 200, headers: [] },
    body: ReadableStream.from([new TextEncoder().encode(body)]),
    end: () => ({ truncated: false, redactions: 0, received_bytes: body.length }),
  };
}

function answer(text: string): Response {
  const { head, body, end } = source(text);
  return streamResponse(head, body, end);
}

Deno.test("custos http shows the words while its one call waits, inline too", async () => {
  for (const args of [[], ["--json"]]) {
    const approved = Promise.withResolvers<void>();
    await using daemon = await fakeDaemon({
      stream: () =>
        streamReply(
          approved.promise.then(() => source("granted")),
          Promise.resolve({ request_id: id, fingerprint: words }),
          () => {},
        ),
    });
    const terminals = { stderr: true };
    const ran = await custos(daemon.socket, http("-d", "{}", "--wait", "5", ...args), {
      terminals,
      onTty: approved.resolve, // the person approves only once the words are on the terminal
    });
    assert.equal(ran.code, 0);
    assert.equal(args.length === 0 ? ran.out : JSON.parse(ran.out).body, "granted");
    assert.equal(ran.tty, line); // once, although the request is named twice
    assert.match(ran.err, /Waiting up to 5 s/);
    assert.deepEqual(daemon.calls.map(({ method, params }) => [method, params.wait_ms]), [["http", 5_000]]);
  }
});

Deno.test("custos http reports what the one call that waited ended with, about its request", async () => {
  for (const kind of ["denied", "expired", "needs_approval", "outcome_unknown"] as const) {
    await using daemon = await fakeDaemon({
      stream: () =>
        streamReply(
          new Promise((_, reject) =>
            setTimeout(() => reject(new RpcError(kind, "No.").withRequest(id, words)))
          ),
          Promise.resolve({ request_id: id, fingerprint: words }),
          () => {},
        ),
    });
    const ran = await custos(daemon.socket, http());
    assert.match(ran.err, new RegExp(`^custos: ${kind}: No\\.`, "m"));
    assert.ok(ran.err.endsWith(ending), ran.err);
    assert.equal(ran.tty, line);
    assert.equal(daemon.calls.length, 1, kind);
  }
});

Deno.test("custos http -d @- uploads a large body once, byte for byte, and no more than 64 MiB (B50)", async () => {
  const large = Uint8Array.from({ length: 3_000_001 }, (_, i) => i % 251);
  let got: Uint8Array = new Uint8Array(0);
  await using daemon = await fakeDaemon({
    async stream(_params, upload) {
      if (upload === undefined) return answer("in the params");
      got = new Uint8Array(
        await new Response(upload as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer(),
      );
      return answer("uploaded");
    },
  });
  const small = await custos(daemon.socket, http("-d", "@-"), { stdin: large.slice(0, 1_048_576) });
  assert.equal(small.out, "in the params");
  assert.equal(got.length, 0);
  const ran = await custos(daemon.socket, http("-d", "@-"), { stdin: large });
  assert.deepEqual([ran.code, ran.out], [0, "uploaded"]);
  assert.deepEqual(got, large);
  const { method, body } = daemon.calls.at(-1)!.params;
  assert.deepEqual([method, body, daemon.calls.length], ["POST", undefined, 2]);

  const piece = new Uint8Array(1_048_576);
  let given = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      given += piece.length;
      controller.enqueue(piece);
    },
  }, { highWaterMark: 0 });
  const over = await custos(daemon.socket, http("-d", "@-"), { stdin: endless });
  assert.equal(over.code, 7);
  assert.match(over.err, /^custos: body_too_large: .* 64 MiB\. Nothing was sent\./);
  assert.ok(given <= 67_108_864 + 2 * piece.length, `${given}`);
});

Deno.test("custos http stops an upload that the daemon refuses before it is over", async () => {
  let given = 0;
  const stdin = new ReadableStream<Uint8Array>({
    pull(controller) {
      given += 65_536;
      controller.enqueue(new Uint8Array(65_536));
    },
  }, { highWaterMark: 0 });
  await using daemon = await fakeDaemon({
    stream: () => Promise.reject(new RpcError("path_not_allowed", "Not there.")),
  });
  const ran = await custos(daemon.socket, http("-d", "@-"), { stdin });
  assert.equal(ran.code, 7);
  assert.match(ran.err, /^custos: path_not_allowed: Not there\./);
  assert.ok(given < 20_000_000, `${given}`);
});
