import assert from "node:assert/strict";
import { brotliCompressSync } from "node:zlib";
import { sha256 } from "@custos/core/labels";
import { toBase64url, utf8 } from "@custos/core/bytes";
import { get, localPolicy, MARK, openCell, S } from "./testdata/open_cell.ts";
import { chunk, closing, latin1, ok, RawServer } from "./testdata/raw_server.ts";

async function gzip(text: string, format: CompressionFormat = "gzip"): Promise<Uint8Array> {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream(format));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

Deno.test("a cell's answer has the marker where an echo had the secret, and stays valid JSON (B55)", async () => {
  await using api = new RawServer((say, seen) => {
    const pairs = seen.head.trim().split("\r\n").slice(1).map((line) => line.split(": "));
    return ok(JSON.stringify(Object.fromEntries(pairs)))(say, seen);
  });
  using cell = await openCell(localPolicy([api.origin]));
  const got = await get(cell, { url: `${api.origin}/v1/x` });
  assert.equal(JSON.parse(got.text).authorization, `Bearer ${MARK}`);
  assert.equal(got.summary?.redactions, 1);
  assert.equal(got.summary?.sha256, toBase64url(await sha256(got.body)));
  assert(api.seen[0]!.head.includes(`authorization: Bearer ${S}\r\n`));
});

Deno.test("a cell finds the secret across chunks cut at every place (B59)", async () => {
  let cuts: number[] = [];
  await using api = new RawServer(async (say) => {
    await say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const text = `{"a":"${S}","b":1}`;
    for (const [i, at] of [0, ...cuts].entries()) {
      await say(chunk(text.slice(at, cuts[i] ?? text.length)));
      // apart in time, or the kernel joins the pieces
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await say("0\r\n\r\n");
  });
  using cell = await openCell(localPolicy([api.origin]));
  const start = '{"a":"'.length;
  const rows = Array.from({ length: S.length + 1 }, (_, i) => [start + i]);
  rows.push(Array.from({ length: S.length + 8 }, (_, i) => i + 1)); // one byte a chunk
  for (const row of rows) {
    cuts = row;
    const got = await get(cell, { url: `${api.origin}/v1/x` });
    assert.equal(got.text, `{"a":"${MARK}","b":1}`, `${row}`);
    assert.equal(got.summary?.redactions, 1);
  }
});

Deno.test("a cell unpacks gzip and brotli before it looks, and refuses what the runtime leaves packed (B61)", async () => {
  const echo = `{"authorization":"Bearer ${S}"}`;
  const big = `${"x".repeat(3_000_000)}${S}`;
  const rows: [string, Uint8Array, string | null][] = [
    ["gzip", await gzip(echo), echo],
    ["GZIP", await gzip(echo), echo],
    ["gzip", await gzip(big), big],
    ["br", brotliCompressSync(echo), echo],
    ["Br", brotliCompressSync(big), big],
    ["identity", utf8(echo), echo],
    ["gzip, identity", await gzip(echo), null],
    ["gzip\r\nContent-Encoding: gzip", await gzip(echo), null],
    ["gzip\r\nContent-Encoding: identity", await gzip(echo), null],
    ["zstd", utf8("\x28\xb5\x2f\xfd"), null],
    ["deflate", await gzip(echo, "deflate"), null],
    ["x-gzip", await gzip(echo), null],
    ["gzip, gzip", await gzip(echo), null],
    ["compress", utf8(echo), null],
  ];
  let answer = ok("");
  await using api = new RawServer((say, seen) => answer(say, seen));
  using cell = await openCell(localPolicy([api.origin]));
  for (const [encoding, bytes, text] of rows) {
    answer = ok(bytes, `Content-Encoding: ${encoding}\r\n`);
    const got = await get(cell, { url: `${api.origin}/v1/x` });
    assert.equal(got.error?.kind ?? null, text === null ? "undecodable_encoding" : null, encoding);
    assert.equal(got.text, (text ?? "").replace(S, MARK), encoding);
    assert(!got.headers.some(([name]) => name === "content-encoding"), encoding);
  }
  answer = closing("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
  assert.equal((await get(cell, { url: `${api.origin}/v1/x` })).error?.kind, "undecodable_encoding");
});

Deno.test("a cell scrubs header values, leaves out names with the secret, cookies and hop-by-hop (B63)", async () => {
  await using api = new RawServer(ok(
    "body",
    [
      `X-Echo: ${S}`,
      `X-Base64: ${btoa(S)}`,
      `WWW-Authenticate: Bearer realm="${S}"`,
      `Set-Cookie: s=${S}`,
      "Set-Cookie: session=NEW1",
      "Set-Cookie: session=NEW1",
      `Link: <https://api.example.test/x?t=${S}>; rel="next"`,
      `Content-Disposition: attachment; filename="${S}.txt"`,
      `x-${S}: name`,
      `X-${S.toUpperCase()}-Y: name`,
      "X-RateLimit-Remaining: 41",
      "Connection: keep-alive, X-Hop",
      "X-Hop: 1",
      "Keep-Alive: timeout=5",
      "Proxy-Authenticate: Basic",
      "Trailer: X-T",
      "",
    ].join("\r\n"),
  ));
  using cell = await openCell(localPolicy([api.origin]));
  const got = await get(cell, { url: `${api.origin}/v1/x` });
  assert.deepEqual(got.headers.toSorted(), [
    ["content-disposition", `attachment; filename="${MARK}.txt"`],
    ["link", `<https://api.example.test/x?t=${MARK}>; rel="next"`],
    ["www-authenticate", `Bearer realm="${MARK}"`],
    ["x-base64", MARK],
    ["x-echo", MARK],
    ["x-ratelimit-remaining", "41"],
  ]);
  assert.equal(got.summary?.redactions, 7);
});

Deno.test("a cell drops trailers and the reason phrase, which could hold the secret (B63)", async () => {
  await using api = new RawServer((say) =>
    say(
      `HTTP/1.1 200 ${S}\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n2\r\nok\r\n0\r\nX-T: ${S}\r\n\r\n`,
    )
  );
  using cell = await openCell(localPolicy([api.origin]));
  const got = await get(cell, { url: `${api.origin}/v1/x` });
  assert.equal(got.text, "ok");
  assert.deepEqual(got.headers, []);
});

Deno.test("a cell applies the limit after scrubbing and says that it did (B65, B75)", async () => {
  await using api = new RawServer(ok(`${"x".repeat(992)}${S}${"y".repeat(200)}`));
  using cell = await openCell(localPolicy([api.origin]));
  const rows: [number, string, boolean][] = [
    [1000, "x".repeat(992), true],
    [992 + MARK.length, `${"x".repeat(992)}${MARK}`, true],
    [992 + MARK.length + 200, `${"x".repeat(992)}${MARK}${"y".repeat(200)}`, false],
    [0, "", true],
  ];
  for (const [max_bytes, text, truncated] of rows) {
    const got = await get(cell, { url: `${api.origin}/v1/x` }, { max_bytes });
    assert.equal(got.text, text);
    assert.equal(got.summary?.truncated, truncated);
    assert.equal(got.summary?.sha256, toBase64url(await sha256(got.body)));
  }
});

Deno.test("a cell passes binary bodies on byte for byte (B81)", async () => {
  const bytes = Uint8Array.from({ length: 262_144 }, (_, i) => (i * 7 + (i >> 8)) & 255);
  await using api = new RawServer(ok(bytes, "Content-Type: application/octet-stream\r\n"));
  using cell = await openCell(localPolicy([api.origin]));
  const got = await get(cell, { url: `${api.origin}/v1/x` });
  assert.deepEqual(got.body, bytes);
  assert.equal(got.summary?.received_bytes, bytes.length);
  assert.equal(got.summary?.redactions, 0);
});

Deno.test("a cell shows no beginning of the secret where an answer breaks off (B59, B82)", async () => {
  for (const length of ["Content-Length: 1000", "Content-Length: 100000", "Transfer-Encoding: chunked"]) {
    const part = `data ${S.slice(0, 12)}`;
    const body = length.startsWith("T") ? chunk(part) : part;
    await using api = new RawServer(closing(`HTTP/1.1 200 OK\r\n${length}\r\n\r\n${body}`));
    using cell = await openCell(localPolicy([api.origin]));
    const got = await get(cell, { url: `${api.origin}/v1/x` });
    assert.equal(got.text, length === "Content-Length: 1000" ? "" : "data ", length); // short ones come whole or not
    assert.equal(got.error?.kind, "outcome_unknown");
    assert.equal(got.status, 200);
  }
});

Deno.test("a cell puts the secret at its place only, in its exact form (B46, B52)", async () => {
  const odd = 'sk-test/Ab+c=9"q\\z';
  const rows: [Parameters<typeof localPolicy>[1], string, string | null][] = [
    [
      { placement: { kind: "header", name: "X-Key", template: "token {secret}" } },
      "/v1/x?q=1",
      `x-key: token ${odd}`,
    ],
    [
      { placement: { kind: "basic", username: "u" } },
      "/v1/x?q=1",
      `authorization: Basic ${btoa(`u:${odd}`)}`,
    ],
    [{ placement: { kind: "query", name: "key" } }, "/v1/x?q=1&key=sk-test%2FAb%2Bc%3D9%22q%5Cz", null],
  ];
  for (const [parts, path, line] of rows) {
    await using api = new RawServer((say, seen) => ok(latin1(seen.head))(say, seen));
    using cell = await openCell(localPolicy([api.origin], parts), odd);
    const body = utf8('{"text":"{{secret:demo-key}} custos:demo-key {secret}"}');
    const headers: [string, string][] = [["x-note", "{secret} {{secret:demo-key}}"]];
    const got = await get(cell, { method: "POST", url: `${api.origin}/v1/x?q=1`, headers, body });
    const [seen] = api.seen;
    assert.equal(seen!.head.split("\r\n")[0], `POST ${path} HTTP/1.1`);
    if (line !== null) assert(seen!.head.includes(`${line}\r\n`), seen!.head);
    assert(seen!.head.includes("x-note: {secret} {{secret:demo-key}}\r\n"));
    assert.deepEqual(seen!.body, body);
    assert.equal(got.summary?.redactions, 1, got.text);
    assert(got.text.includes(MARK));
  }
});

Deno.test("a cell sends exactly what was approved and these headers of the runtime besides (B50)", async () => {
  await using api = new RawServer(ok(""));
  using cell = await openCell(localPolicy([api.origin]));
  const body = Uint8Array.from({ length: 1000 }, (_, i) => i & 255); // B50
  const headers: [string, string][] = [["content-type", "application/x"], ["x-latin", "\xe9"], [
    "idempotency-key",
    "k1",
  ]];
  await get(cell, {
    method: "POST",
    url: `${api.origin}/v1/x?a=%20+~%7E&&b=%2f;c=%zz'`.replace("'", "%27"),
    headers,
    body,
  });
  const lines = api.seen[0]!.head.trimEnd().split("\r\n");
  assert.equal(lines[0], "POST /v1/x?a=%20+~%7E&&b=%2f;c=%zz%27 HTTP/1.1");
  assert.deepEqual(lines.slice(1).toSorted(), [
    "accept-encoding: gzip,br",
    "accept-language: *",
    "accept: */*",
    `authorization: Bearer ${S}`,
    "content-length: 1000",
    "content-type: application/x",
    `host: 127.0.0.1:${api.port}`,
    "idempotency-key: k1",
    `user-agent: Deno/${Deno.version.deno}`,
    "x-latin: \xe9",
  ]);
  assert.deepEqual(api.seen[0]!.body, body);
});
