import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import type { StreamEnd, StreamHead } from "@custos/rpc/http_schemas";
import { RpcError } from "@custos/rpc/rpc_error";
import { STREAM_TYPE, streamResponse } from "@custos/rpc/stream";
import { fakeDaemon } from "../testing/fake_daemon.ts";
import { custos } from "../testing/fake_io.ts";

const id = newId();
const words = "rocket velvet oasis";
const line = `Request ${id}  fingerprint: ${words}\n`;
const ending = ` (request ${id}, fingerprint: ${words})\n`;
const url = "https://api.example.test/v1/x";
const http = (...args: string[]) => ["http", "--handle", "demo-key", ...args, url];

const head: StreamHead = {
  request_id: id,
  fingerprint: words,
  status_code: 200,
  headers: [["x-a", "1"], ["x-a", "2"]],
};
const end: StreamEnd = { truncated: false, redactions: 0, received_bytes: 5 };
function answer(
  body: string | Uint8Array[] = "hello",
  change: { head?: Partial<StreamHead>; end?: Partial<StreamEnd> } = {},
): Response {
  const chunks = typeof body === "string" ? [new TextEncoder().encode(body)] : body;
  return streamResponse(
    { ...head, ...change.head },
    ReadableStream.from(chunks),
    () => ({ ...end, ...change.end }),
  );
}

Deno.test("custos http shows the words on the terminal while stdout and stderr are files, and exits 3", async () => {
  await using daemon = await fakeDaemon({ stream: () => Promise.reject(RpcError.needsApproval(id, words)) });
  const ran = await custos(daemon.socket, http("--wait", "1"));
  assert.equal(ran.code, 3);
  assert.equal(ran.out, "");
  assert.equal(ran.tty, line);
  assert.ok(ran.err.startsWith("custos: needs_approval: Nothing was sent."), ran.err);
  assert.ok(ran.err.endsWith(ending), ran.err);
});

Deno.test("custos http --wait 0 makes one call that waits for nobody", async () => {
  await using daemon = await fakeDaemon({ stream: () => Promise.reject(RpcError.needsApproval(id, words)) });
  const ran = await custos(daemon.socket, http("--wait", "0"));
  assert.equal(ran.code, 3);
  assert.equal(ran.tty, line);
  assert.deepEqual(daemon.calls.map(({ params }) => params.wait_ms), [0]);
});

Deno.test("custos http never repeats a call after any error", async () => {
  for (
    const kind of [
      "needs_approval",
      "denied",
      "outcome_unknown",
      "upstream_timeout",
      "internal",
      "cooling_down",
    ] as const
  ) {
    const error = new RpcError(kind, "No.").withRequest(id, words);
    await using daemon = await fakeDaemon({ stream: () => Promise.reject(error) });
    const ran = await custos(daemon.socket, http());
    assert.equal(daemon.calls.length, 1, kind);
    assert.equal(ran.tty, line);
    assert.ok(ran.err.endsWith(ending), ran.err);
  }
});

Deno.test("custos http calls a reply without words outcome_unknown, with exit code 5", async () => {
  const { fingerprint: _words, ...without } = head;
  const json = new TextEncoder().encode(JSON.stringify(without));
  const frame = new Uint8Array(5 + json.length);
  frame[0] = 1;
  new DataView(frame.buffer).setUint32(1, json.length);
  frame.set(json, 5);
  const replies: [string[], () => Response][] = [
    [[], () => new Response(frame, { headers: { "content-type": STREAM_TYPE } })],
    [
      [],
      () =>
        Response.json({
          jsonrpc: "2.0",
          id: null,
          error: { code: -32_000, message: "x", data: { kind: "needs_approval", request_id: id } },
        }),
    ],
    [["--json"], () => new Response(frame, { headers: { "content-type": STREAM_TYPE } })],
    [[], () => new Response("<html>")],
  ];
  for (const [args, raw] of replies) {
    await using daemon = await fakeDaemon({ raw });
    const ran = await custos(daemon.socket, http(...args));
    assert.equal(ran.code, 5);
    assert.match(ran.err, /^custos: outcome_unknown: .*may have/);
    assert.equal(daemon.calls.length, 1);
  }
});

Deno.test("custos http calls an answer that stops half way outcome_unknown, and keeps what came (B82)", async () => {
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("half")),
    pull: (controller) => controller.error(new RpcError("outcome_unknown", "The server hung up.")),
  });
  await using daemon = await fakeDaemon({ stream: () => streamResponse(head, broken, () => end) });
  const ran = await custos(daemon.socket, http());
  assert.equal(ran.code, 5);
  assert.ok("half".startsWith(ran.out));
  assert.ok(ran.err.endsWith(ending), ran.err);
});

Deno.test("custos http streams every byte, and names the request of an answer on the terminal only", async () => {
  const chunk = crypto.getRandomValues(new Uint8Array(50_000));
  await using daemon = await fakeDaemon({ stream: () => answer([chunk, chunk, chunk]) });
  const ran = await custos(daemon.socket, http());
  assert.equal(ran.code, 0);
  assert.equal(ran.bytes.length, 150_000);
  assert.deepEqual(ran.bytes.subarray(100_000), Uint8Array.from(chunk));
  assert.deepEqual([ran.err, ran.tty], ["", line]);
});

Deno.test("custos http -i, --fail and notes say what a person should know", async () => {
  await using daemon = await fakeDaemon({
    stream: () =>
      answer("no", {
        head: { status_code: 404, headers: [["x-\u001b[2J", "a\u202eb"]] },
        end: { redactions: 2, truncated: true },
      }),
  });
  const failed = await custos(daemon.socket, http("-i", "-f"));
  assert.equal(failed.code, 1);
  assert.equal(failed.out, "HTTP 404\nx-\\u{1b}[2J: a\\u{202e}b\n\nno");
  assert.match(failed.err, /answered 404.*\n.*held the secret in 2 places.*\n.*was cut/);
  assert.equal((await custos(daemon.socket, http())).code, 0);
});

Deno.test("custos http says where a redirect led, and does not follow it", async () => {
  await using daemon = await fakeDaemon({
    stream: () =>
      answer("", { head: { status_code: 302, headers: [["location", "https://evil.test/\u001b[2J"]] } }),
  });
  const ran = await custos(daemon.socket, http());
  assert.match(ran.err, /answered 302 to https:\/\/evil\.test\/\\u\{1b\}\[2J\. Redirects are not followed/);
  assert.equal(daemon.calls.length, 1);
});

Deno.test("custos http --json prints one result, whose members do not change", async () => {
  await using daemon = await fakeDaemon({ stream: () => answer([Uint8Array.of(255, 0)]) });
  const ran = await custos(daemon.socket, http("--json", "--max-bytes", "10"));
  assert.deepEqual(Object.keys(JSON.parse(ran.out)), [
    "request_id",
    "fingerprint",
    "status_code",
    "headers",
    "body",
    "body_encoding",
    "truncated",
    "redactions",
    "received_bytes",
  ]);
  assert.equal(daemon.calls[0]!.params.max_bytes, 10);
  assert.equal(ran.tty, line);
});

Deno.test("custos http sends what the arguments say", async () => {
  await using daemon = await fakeDaemon({ stream: () => answer() });
  const call = async (args: string[], stdin: string | Uint8Array = "") => {
    await custos(daemon.socket, http(...args), { stdin });
    const { agent: _agent, wait_ms: _wait, handle, url: target, ...rest } = daemon.calls.at(-1)!.params;
    assert.deepEqual([handle, target], ["custos:demo-key", url]);
    return rest;
  };
  const plain = { method: "GET", headers: [], reason: "(no reason given)" };
  assert.deepEqual(await call([]), plain);
  assert.deepEqual(await call(["-X", "delete"]), { ...plain, method: "DELETE" });
  assert.deepEqual(await call(["-d", "a=1", "--reason", "try"]), {
    ...plain,
    method: "POST",
    reason: "try",
    body: { encoding: "utf8", data: "a=1" },
  });
  assert.deepEqual(await call(["-H", "Accept: text/html", "-H", "X-A:b:c"]), {
    ...plain,
    headers: [["Accept", "text/html"], ["X-A", "b:c"]],
  });
  assert.deepEqual((await call(["-d", "@-"], "from ä")).body, { encoding: "utf8", data: "from ä" });
  assert.deepEqual((await call(["-d@-", "-XPUT"], Uint8Array.of(0xff, 0))).body, {
    encoding: "base64",
    data: "/wA=",
  });
});

Deno.test("custos http finds the one secret of an origin, and never chooses between two", async () => {
  const handle = (name: string, origins: string[]) => ({
    handle: `custos:${name}`,
    name,
    origins,
    rules: [],
    placement: { kind: "bearer" as const },
    limits: { max_seconds: 60, max_body_bytes: 0, private_network: false },
    version: 1,
    live_grants: [],
  });
  const handles = [
    handle("one", ["https://one.test"]),
    handle("two", ["https://two.test", "https://both.test"]),
    handle("also", ["https://both.test"]),
  ];
  await using daemon = await fakeDaemon({
    "handles.list": () => Promise.resolve({ handles }),
    stream: () => answer(),
  });
  assert.equal((await custos(daemon.socket, ["http", "https://ONE.test:443/x"])).code, 0);
  assert.equal(daemon.calls.at(-1)!.params.handle, "custos:one");
  const rows: [string, number, RegExp][] = [
    ["https://both.test/", 2, /custos:two, custos:also\. Choose with --handle/],
    [
      "https://none.test/",
      7,
      /No secret may go to https:\/\/none\.test\. There are: custos:one \(https:\/\/one\.test\)/,
    ],
    ["https://one.test:8443/", 7, /No secret may go to https:\/\/one\.test:8443/],
    ["http://one.test/", 7, /No secret may go to http:\/\/one\.test\./],
    ["https://one.test.evil.test/", 7, /No secret/],
  ];
  const sent = daemon.calls.filter(({ method }) => method === "http").length;
  for (const [target, code, text] of rows) {
    const ran = await custos(daemon.socket, ["http", target]);
    assert.equal(ran.code, code, target);
    assert.match(ran.err, text);
  }
  assert.equal(daemon.calls.filter(({ method }) => method === "http").length, sent);
});

Deno.test("custos http ends quietly, and ends the upstream request, when its reader leaves", async () => {
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    cancel: () => resolve(),
  });
  await using daemon = await fakeDaemon({ stream: () => streamResponse(head, endless, () => end) });
  const ran = await custos(daemon.socket, http(), { closesAfter: 3 });
  assert.equal(ran.code, 0);
  assert.equal(ran.err, "");
  await gone;
});
