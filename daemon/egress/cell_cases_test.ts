import assert from "node:assert/strict";
import { get, localPolicy, MARK, openCell, S } from "./testdata/open_cell.ts";
import { type Answer, ok, RawServer } from "./testdata/raw_server.ts";

Deno.test("a cell does not follow a redirect to another scheme or port of the same host (B26, B27)", async () => {
  await using plain = new RawServer(ok("never"));
  let location = "";
  await using api = new RawServer((say) =>
    say(`HTTP/1.1 301 Moved\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`)
  );
  using cell = await openCell(localPolicy([api.origin, plain.origin]));
  for (
    location of [
      `${plain.origin}/v1/x`,
      `${api.origin.replace("http:", "https:")}/v1/x`,
      "http://api.example.test/v1/x",
      `//127.0.0.1:${plain.port}/v1/x`,
    ]
  ) {
    const got = await get(cell, { url: `${api.origin}/v1/x` });
    assert.equal(got.error, null);
    assert.deepEqual([got.status, got.headers.find(([name]) => name === "location")], [
      301,
      ["location", location],
    ]);
  }
  assert.equal(plain.connections, 0);
  assert.equal(api.connections, 4);
});

Deno.test("a cell looks for the value that it sent, also while a newer one is in use, and for no other secret (B74)", async () => {
  const [older, newer, other] = [S, "tok_live_00000000", "another_secret_of_mine"];
  const asked = Promise.withResolvers<void>();
  const rotated = Promise.withResolvers<void>();
  const answer: Answer = async (say, seen) => {
    if (seen.head.includes("/slow")) {
      asked.resolve();
      await rotated.promise;
    }
    await ok(`${older} ${newer} ${other}`)(say, seen);
  };
  await using api = new RawServer(answer);
  using before = await openCell(localPolicy([api.origin]), older);
  const late = get(before, { url: `${api.origin}/slow` });
  await asked.promise;
  {
    using after = await openCell(localPolicy([api.origin], { version: 2, prev: "A".repeat(43) }), newer);
    assert.equal((await get(after, { url: `${api.origin}/x` })).text, `${older} ${MARK} ${other}`);
  }
  rotated.resolve();
  assert.equal((await late).text, `${MARK} ${newer} ${other}`);
});

Deno.test("a cell sends times as they were approved, and hands a 401 back as any answer (B170)", async () => {
  const date = "Tue, 15 Nov 1994 08:12:31 GMT";
  await using api = new RawServer(async (say, seen) => {
    await say(`HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer error="stale ${S}"\r\n`);
    await ok("stale")((part) => say(String(part).replace("HTTP/1.1 200 OK\r\n", "")), seen);
  });
  using cell = await openCell(localPolicy([api.origin]));
  const headers: [string, string][] = [["date", date], ["x-timestamp", "784887151"], [
    "idempotency-key",
    "K-1",
  ]];
  for (let i = 0; i < 2; i++) {
    const got = await get(cell, { method: "POST", url: `${api.origin}/x`, headers });
    assert.deepEqual([got.status, got.error, cell.ended], [401, null, null]);
    assert.deepEqual(
      got.headers.find(([name]) => name === "www-authenticate")?.[1],
      `Bearer error="stale ${MARK}"`,
    );
  }
  for (const { head } of api.seen) {
    for (const [name, value] of headers) assert(head.includes(`\r\n${name}: ${value}\r\n`), head);
  }
});

Deno.test("a cell sends a stream with its length where that is known, and never a broken one as a whole one (B50, B143)", async () => {
  await using api = new RawServer(ok("fine"));
  using cell = await openCell(localPolicy([api.origin]));
  const stream = (size: number, end: (controller: ReadableStreamDefaultController) => void) => {
    let left = size;
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        if (left <= 0) return end(controller);
        controller.enqueue(new Uint8Array(Math.min(left, 10_000)).fill(120));
        left -= 10_000;
      },
    }, { highWaterMark: 0 });
  };
  const close = (controller: ReadableStreamDefaultController) => controller.close();
  const url = `${api.origin}/x`;
  const headers: [string, string][] = [["content-type", "application/zip"]];
  const whole = { method: "POST", url, headers, body: stream(2_000_005, close), body_bytes: 2_000_005 };
  assert.equal((await get(cell, whole)).text, "fine");
  const [{ head, body }] = api.seen as [(typeof api.seen)[0]];
  assert.match(head, /\r\ncontent-length: 2000005\r\n/);
  assert.match(head, /\r\ncontent-type: application\/zip\r\n/);
  assert(!/transfer-encoding/i.test(head));
  assert.equal(body.length, 2_000_005);

  const rows: [string, ReadableStream<Uint8Array>][] = [
    ["a stream that is too short", stream(1_000_000, close)],
    ["a stream that fails", stream(1_000_000, (controller) => controller.error(new Error("changed")))],
  ];
  for (const [what, body] of rows) {
    const before = api.seen.length;
    const got = await get(cell, { method: "POST", url, headers: [], body, body_bytes: 2_000_000 });
    assert(
      ["outcome_unknown", "body_too_large"].includes(got.error?.kind ?? ""),
      `${what}: ${got.error?.kind}`,
    );
    assert.equal(got.status, 0, what);
    assert(api.seen.slice(before).every((seen) => seen.body.length < 2_000_000), what);
  }
  assert.equal((await get(cell, { url })).text, "fine");
});

Deno.test("a cell replaces the secret in the names of JSON keys, and the JSON stays one (B55)", async () => {
  const text = JSON.stringify({ [S]: 1, nested: { [`x-${S}-y`]: [S] }, [btoa(S)]: null });
  await using api = new RawServer(ok(text, "Content-Type: application/json\r\n"));
  using cell = await openCell(localPolicy([api.origin]));
  const got = await get(cell, { url: `${api.origin}/x` });
  assert.deepEqual(JSON.parse(got.text), { [MARK]: null, nested: { [`x-${MARK}-y`]: [MARK] } });
  assert.equal(got.summary?.redactions, 4);
});
