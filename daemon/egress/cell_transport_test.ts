import assert from "node:assert/strict";
import { utf8 } from "@custos/core/bytes";
import { get, localPolicy, openCell, S } from "./testdata/open_cell.ts";
import { type Answer, chunk, closing, Hangup, latin1, ok, RawServer } from "./testdata/raw_server.ts";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** A free port on which nobody listens. */
function deadPort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  return listener.addr.port;
}

Deno.test("a cell tells what was never sent from what may have been (B70, B82, B167)", async () => {
  const rows: [string, Answer, string, number][] = [
    ["closed without an answer", closing(""), "outcome_unknown", 0],
    ["not HTTP", closing("hello there\r\n\r\n"), "outcome_unknown", 0],
    ["headers broken off", closing("HTTP/1.1 200 OK\r\nX-A"), "outcome_unknown", 0],
    [
      "two lengths",
      closing("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde"),
      "outcome_unknown",
      0,
    ],
    ["half a body", closing("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"), "outcome_unknown", 200],
    [
      "no last chunk",
      closing(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk("half")}`),
      "outcome_unknown",
      200,
    ],
    [
      "half a gzip",
      closing("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00"),
      "outcome_unknown",
      200,
    ],
    ["101", closing("HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nraw"), "outcome_unknown", 0],
    ["120 headers", ok("", "x-a: 1\r\n".repeat(120)), "outcome_unknown", 0],
    ["a header of 900 kB", ok("", `x-a: ${"a".repeat(900_000)}\r\n`), "outcome_unknown", 0],
  ];
  for (const [what, answer, kind, status] of rows) {
    await using api = new RawServer(answer);
    using cell = await openCell(localPolicy([api.origin], { placement: { kind: "query", name: "key" } }));
    const got = await get(cell, { method: "POST", url: `${api.origin}/v1/x`, body: utf8("x") });
    assert.equal(got.error?.kind, kind, what);
    assert.equal(got.status, status, what);
    assert(
      got.error!.message.includes("127.0.0.1") && got.error!.message.includes("POST"),
      got.error!.message,
    );
    assert(!got.error!.message.includes(S), what);
    assert.equal(api.seen.length, 1, what);
    // the cell goes on
    api.answer = ok("fine");
    assert.equal((await get(cell, { url: `${api.origin}/v1/x` })).text, "fine", what);
  }
});

Deno.test("a cell says upstream_unreachable where nothing was sent (B70)", async () => {
  const dead = `http://127.0.0.1:${deadPort()}`;
  await using plain = new RawServer(ok("never"), "this is no TLS\r\n\r\n");
  const tls = `https://127.0.0.1:${plain.port}`;
  const rows: [string, RegExp][] = [
    [dead, /refused the connection/],
    ["http://nothing.invalid", /does not resolve/],
    [tls, /TLS/],
  ];
  using cell = await openCell(
    localPolicy(rows.map(([origin]) => origin), { placement: { kind: "query", name: "k" } }),
  );
  for (const [origin, text] of rows) {
    const got = await get(cell, { url: `${origin}/v1/x` });
    assert.equal(got.error?.kind, "upstream_unreachable", origin);
    assert.match(got.error!.message, text);
    assert.match(got.error!.message, /Nothing was sent/);
    assert(!got.error!.message.includes(S));
  }
  assert.equal(plain.seen.length, 0);
});

Deno.test("a cell reads answers without a body, interim ones and old HTTP (B83)", async () => {
  const rows: [string, string, number, string][] = [
    ["HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", 200, ""],
    ["HEAD", "HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: 10\r\n\r\n", 200, ""],
    ["GET", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""],
    ["GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\nETag: x\r\n\r\n", 304, ""],
    [
      "GET",
      "HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      200,
      "ok",
    ],
    ["GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, ""],
    [
      "GET",
      `HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n${chunk("ab")}${chunk("c")}0\r\n\r\n`,
      500,
      "abc",
    ],
    ["GET", "HTTP/1.0 200 OK\r\n\r\nuntil the end", 200, "until the end"],
  ];
  for (const [method, bytes, status, text] of rows) {
    await using api = new RawServer(closing(bytes));
    using cell = await openCell(localPolicy([api.origin]));
    const got = await get(cell, { method, url: `${api.origin}/v1/x` });
    assert.equal(got.error, null, bytes);
    assert.equal(got.status, status);
    assert.equal(got.text, text);
    const length = got.headers.find(([name]) => name === "content-length")?.[1] ?? null;
    assert.equal(length, method === "HEAD" || status === 304 ? "10" : null);
  }
});

Deno.test("a cell sends a POST once over connections that close early, and never uses one twice (B167)", async () => {
  // answers the first request of a connection and, on the second, reads it and closes: the runtime would send it again
  await using api = new RawServer(async (say, seen) => {
    if (seen.head.includes("/close")) throw new Hangup();
    await ok("fine")(say, seen);
  });
  using cell = await openCell(localPolicy([api.origin]));
  for (const [i, method] of ["POST", "DELETE", "GET"].entries()) {
    await get(cell, { method, url: `${api.origin}/warm` });
    const got = await get(cell, { method, url: `${api.origin}/close` });
    assert.equal(got.error?.kind, "outcome_unknown");
    assert.equal(api.seen.filter((seen) => seen.head.startsWith(`${method} /close`)).length, 1, method);
    assert.equal(api.connections, 2 * (i + 1));
  }
});

Deno.test("a cell keeps connections for GET under keep_alive only", async () => {
  await using api = new RawServer(ok("fine"));
  using cell = await openCell(localPolicy([api.origin]));
  for (let i = 0; i < 3; i++) await get(cell, { url: `${api.origin}/x` }, { keep_alive: true });
  assert.equal(api.connections, 1);
  for (let i = 0; i < 3; i++) {
    await get(cell, { method: "POST", url: `${api.origin}/x` }, { keep_alive: true });
  }
  assert.equal(api.connections, 4);
});

Deno.test("a cell stops an endless body at the limit and closes the connection (B75)", async () => {
  let gone = false;
  await using api = new RawServer(async (say) => {
    await say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    try {
      for (;;) await say(chunk("x".repeat(50_000)));
    } finally {
      gone = true;
    }
  });
  using cell = await openCell(localPolicy([api.origin]));
  const got = await get(cell, { url: `${api.origin}/v1/x` }, { max_bytes: 1_000_000 });
  assert.equal(got.body.length, 1_000_000);
  assert.equal(got.summary?.truncated, true);
  for (let i = 0; i < 200 && !gone; i++) await pause(10);
  assert(gone);
});

Deno.test("a cell holds a fast upstream back for a slow reader", async () => {
  let sent = 0;
  const part = latin1(chunk("x".repeat(64_000)));
  await using api = new RawServer(async (say) => {
    await say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (; sent < 48_000_000; sent += 64_000) await say(part);
    await say("0\r\n\r\n");
  });
  using cell = await openCell(localPolicy([api.origin]));
  const response = await cell.request(
    { method: "GET", url: `${api.origin}/x`, headers: [], body: null },
    { max_bytes: 100_000_000 },
  );
  const reader = response.body.getReader();
  await reader.read();
  let before = -1;
  for (let still = 0; still < 10;) {
    await pause(20);
    still = sent === before ? still + 1 : 0;
    before = sent;
  }
  assert(sent < 24_000_000, `${sent}`); // what the kernel's and the runtime's buffers took
  let read = 0;
  while (!(await reader.read()).done) read++;
  assert(read > 0);
  assert.equal((await response.finished).received_bytes, 48_000_000);
});

Deno.test("a cell ends slow headers and slow bodies at their limits (B77, B78)", async () => {
  const drip: Answer = async (say) => {
    for (const byte of "HTTP/1.1 200 OK\r\nX-Slow: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") {
      await say(byte);
      await pause(50);
    }
  };
  const slow = (head: string): Answer => async (say) => {
    await say(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`);
    for (let i = 0; i < 100; i++) {
      await say(head.startsWith("T") ? chunk(".") : ".");
      await pause(50);
    }
  };
  const rows: [string, Answer, { header_ms?: number; total_ms: number }, number][] = [
    ["silence", () => pause(5_000), { header_ms: 100, total_ms: 60_000 }, 0],
    ["header drip", drip, { header_ms: 200, total_ms: 60_000 }, 0],
    ["header drip, total", drip, { total_ms: 200 }, 0],
    ["body drip", slow("Transfer-Encoding: chunked"), { total_ms: 300 }, 200],
    ["short body drip", slow("Content-Length: 100"), { header_ms: 60_000, total_ms: 300 }, 200],
  ];
  for (const [what, answer, limits, status] of rows) {
    for (const [method, kind] of [["GET", "upstream_timeout"], ["POST", "outcome_unknown"]] as const) {
      await using api = new RawServer(answer);
      using cell = await openCell(localPolicy([api.origin]));
      const got = await get(cell, { method, url: `${api.origin}/v1/x` }, limits);
      assert.equal(got.error?.kind, kind, what);
      assert.equal(got.status, status, what);
      assert.match(got.error!.message, / ms\. /);
      if (what === "body drip") assert(got.text.startsWith("."));
      assert.equal(api.seen.length, 1);
      assert.equal(cell.active, 0);
    }
  }
});

Deno.test("Cell.request() refuses limits that a timer cannot hold", async () => {
  using cell = await openCell(localPolicy(["http://127.0.0.1:9999"]));
  for (
    const limits of [{ total_ms: 2 ** 31 }, { header_ms: 0 }, { total_ms: -1 }, { total_ms: NaN }, {
      total_ms: 1.5,
    }]
  ) {
    assert.equal((await get(cell, { url: "http://127.0.0.1:9999/" }, limits)).error?.kind, "bad_request");
  }
  for (const max_bytes of [-1, NaN, Infinity, 0.5]) {
    assert.equal(
      (await get(cell, { url: "http://127.0.0.1:9999/" }, { max_bytes })).error?.kind,
      "bad_request",
    );
  }
});

Deno.test("a cell passes events on as they come, without waiting for an end (B79)", async () => {
  const next = Promise.withResolvers<void>();
  await using api = new RawServer(async (say) => {
    await say("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    await say(chunk("data: one\n\n"));
    await next.promise; // the second event is sent only after the first was read
    await say(chunk(`data: ${S}\n\n`));
    await say("0\r\n\r\n");
  });
  using cell = await openCell(localPolicy([api.origin]));
  const response = await cell.request(
    { method: "GET", url: `${api.origin}/events`, headers: [], body: null },
    { max_bytes: 1000 },
  );
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  assert.equal((await reader.read()).value, "data: one\n\n");
  next.resolve();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) rest += part.value;
  assert.equal(rest, "data: [custos:demo-key]\n\n");
});

Deno.test("a cell sends a stream chunked, whole and within the policy's limit", async () => {
  await using api = new RawServer(ok("fine"));
  const limits = { max_seconds: 900, max_body_bytes: 200_000, private_network: true };
  using cell = await openCell(localPolicy([api.origin], { limits }));
  const body = () => new Blob([new Uint8Array(150_000).fill(120)]).stream();
  assert.equal((await get(cell, { method: "POST", url: `${api.origin}/x`, body: body() })).text, "fine");
  assert.match(api.seen[0]!.head, /transfer-encoding: chunked/);
  assert.equal(api.seen[0]!.body.filter((byte) => byte === 120).length, 150_000);
  const large = new Blob([new Uint8Array(150_000), new Uint8Array(150_000)]).stream();
  const got = await get(cell, { method: "POST", url: `${api.origin}/x`, body: large });
  assert.equal(got.error?.kind, "body_too_large");
  assert.equal(
    (await get(cell, { method: "POST", url: `${api.origin}/x`, body: new Uint8Array(200_001) })).error?.kind,
    "body_too_large",
  );
});
