import assert from "node:assert/strict";
import { ConnectFailed, postUnix } from "./unix_http.ts";

/** Runs one exchange against a server that answers with these bytes, in pieces of `size`, and closes. */
async function answered(
  answer: string | Uint8Array,
  size = 7,
): Promise<{ response: Response; request: string }> {
  const folder = await Deno.makeTempDir({ prefix: "custos-http-" });
  const listener = Deno.listen({ transport: "unix", path: `${folder}/s` });
  let request = "";
  const serving = (async () => {
    const connection = await listener.accept();
    const buffer = new Uint8Array(65_536);
    const count = await connection.read(buffer) ?? 0;
    request = new TextDecoder().decode(buffer.subarray(0, count));
    const bytes = typeof answer === "string" ? new TextEncoder().encode(answer) : answer;
    for (let at = 0; at < bytes.length; at += size) {
      await connection.write(bytes.subarray(at, at + size)).catch(() => {}); // the other side may have refused already
    }
    connection.close();
    listener.close();
  })();
  try {
    return { response: await postUnix(`${folder}/s`, { path: "/rpc", body: '{"ä":1}' }), request };
  } finally {
    await serving;
    await Deno.remove(folder, { recursive: true });
  }
}

const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

Deno.test("postUnix() sends one POST with its length in bytes, on a connection that is not kept", async () => {
  const { request, response } = await answered(`${ok}Content-Length: 2\r\n\r\n{}`);
  assert.match(request, /^POST \/rpc HTTP\/1\.1\r\nHost: custos\.invalid\r\n/);
  assert.match(request, /\r\nContent-Length: 8\r\nConnection: close\r\n\r\n\{"ä":1\}$/);
  assert.equal(response.headers.get("content-type"), "application/json");
  assert.equal(await response.text(), "{}");
});

Deno.test("postUnix() reads bodies by length, by chunks and to the end, however they are cut", async () => {
  const rows = [
    `${ok}Content-Length: 11\r\n\r\nhello world`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`,
    `${ok}Connection: close\r\n\r\nhello world`,
  ];
  for (const row of rows) {
    for (const size of [1, 3, 1_000]) {
      const { response } = await answered(row, size);
      assert.equal(await response.text(), "hello world", `${size} ${row}`);
    }
  }
  assert.equal((await answered("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")).response.status, 503);
});

Deno.test("postUnix() takes no cut or doubtful response for a whole one (B82)", async () => {
  const heads = [
    "",
    "HTTP/1.1 200 OK",
    "HTTP/1.1 200 OK\r\nContent-Length: 2",
    "HTTP/1.0 200 OK\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 200 OK\nContent-Length: 2\n\n{}",
    `${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    `${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x`,
    `${ok}Content-Length: -2\r\n\r\n{}`,
    `${ok}no colon\r\n\r\n{}`,
    `${ok}bad name: x\r\n\r\n{}`,
    `HTTP/1.1 200 ${"x".repeat(20_000)}\r\n\r\n`,
    `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(200)}\r\n`,
  ];
  for (const head of heads) {
    await assert.rejects(
      answered(head, 1_000),
      (error) => !(error instanceof ConnectFailed),
      head.slice(0, 60),
    );
  }
  const bodies = [
    `${ok}Content-Length: 10\r\n\r\nhello`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhel`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n`,
  ];
  for (const body of bodies) {
    const { response } = await answered(body, 1_000);
    await assert.rejects(response.text(), body);
  }
});

Deno.test("postUnix() ends with the signal's reason, before and within the body, and closes the line", async () => {
  const folder = await Deno.makeTempDir({ prefix: "custos-http-" });
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  const stop = new AbortController();
  const place = { path: `${folder}/s`, transport: "unix", signal: stop.signal, onListen() {} } as const;
  const server = Deno.serve(place, (request) => {
    if (new URL(request.url).pathname === "/hang") return new Promise(() => {});
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => leave(),
    });
    return new Response(body);
  });
  const before = new AbortController();
  const hanging = postUnix(`${folder}/s`, { path: "/hang", body: "{}", signal: before.signal });
  before.abort(new Error("the user left"));
  await assert.rejects(hanging, /the user left/);

  const within = new AbortController();
  const response = await postUnix(`${folder}/s`, { path: "/", body: "{}", signal: within.signal });
  const reader = response.body!.getReader();
  assert.equal((await reader.read()).value?.length, 10);
  within.abort(new Error("enough"));
  await assert.rejects(reader.read(), /enough/);
  await left; // the server saw its reader go
  const gone = new AbortController();
  gone.abort(new Error("too late"));
  await assert.rejects(postUnix(`${folder}/s`, { path: "/", body: "{}", signal: gone.signal }), /too late/);

  stop.abort();
  await server.finished;
  await Deno.remove(folder, { recursive: true });
});

Deno.test("postUnix() says ConnectFailed where nothing was sent", async () => {
  await assert.rejects(postUnix("/nonexistent/s", { path: "/", body: "" }), ConnectFailed);
});
