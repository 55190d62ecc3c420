import assert from "node:assert/strict";
import { get, localPolicy, openCell, S } from "./testdata/open_cell.ts";
import { latin1, ok, RawServer } from "./testdata/raw_server.ts";

const KEYED = { kind: "header", name: "X-Api-Key", template: "{secret}" } as const;

Deno.test("a cell hands every redirect back and follows none (B25, B26, B31, B32, B35)", async () => {
  await using evil = new RawServer(ok("stolen"));
  let location = "";
  let status = 302;
  await using api = new RawServer(async (say) => {
    await say(latin1(`HTTP/1.1 ${status} Somewhere\r\n${location}Content-Length: 4\r\n\r\nbody`));
  });
  // the policy names the second origin as well, so that only the rule against following keeps the cell from it
  using cell = await openCell(localPolicy([api.origin, evil.origin], { placement: KEYED }));
  const at = (value: string) => `Location: ${value}\r\n`;
  const rows: [number, string, string | null][] = [
    [301, at(`${evil.origin}/c`), `${evil.origin}/c`],
    [302, at(`${evil.origin}/c`), `${evil.origin}/c`],
    [303, at(`${evil.origin}/c`), `${evil.origin}/c`],
    [307, at(`${evil.origin}/c`), `${evil.origin}/c`],
    [308, at(`${evil.origin}/c`), `${evil.origin}/c`],
    [302, at("/admin/delete-all"), "/admin/delete-all"], // B31
    [302, at("http://169.254.169.254/latest/"), "http://169.254.169.254/latest/"], // B32
    [302, "", null], // B35 from here
    [302, at(""), ""],
    [302, at("//evil.test/"), "//evil.test/"],
    [302, at("\\\\evil.test/"), "\\\\evil.test/"],
    [302, at("file:///etc/hostname"), "file:///etc/hostname"],
    [302, at("data:text/html,x"), "data:text/html,x"],
    [302, at("a") + at("b"), "a, b"],
    [302, at("\xff\xfe"), "\xff\xfe"],
    [302, at("x".repeat(20_000)), "x".repeat(20_000)],
    [300, at(`${evil.origin}/c`), `${evil.origin}/c`],
    [304, at(`${evil.origin}/c`), `${evil.origin}/c`],
  ];
  for (const [code, line, expected] of rows) {
    [status, location] = [code, line];
    const before = api.seen.length;
    for (const method of ["GET", "POST"]) {
      const got = await get(cell, { method, url: `${api.origin}/v1/x` });
      assert.equal(got.error, null, line);
      assert.equal(got.status, code);
      assert.equal(got.headers.find(([name]) => name === "location")?.[1] ?? null, expected, line);
    }
    assert.equal(api.seen.length, before + 2);
  }
  assert.equal(evil.connections, 0);
  assert(api.seen.every((seen) => seen.head.includes(`x-api-key: ${S}\r\n`)));
});

Deno.test("a cell passes a signed Location on byte for byte (B33)", async () => {
  const signed = "https://store.example.test/f?sig=AbC%2B%2F123&exp=9";
  await using api = new RawServer((say) =>
    say(`HTTP/1.1 302 Found\r\nLocation: ${signed}\r\nContent-Length: 0\r\n\r\n`)
  );
  using cell = await openCell(localPolicy([api.origin]));
  const got = await get(cell, { url: `${api.origin}/v1/logs` });
  assert.deepEqual(got.headers, [["location", signed]]);
  assert.equal(got.summary?.redactions, 0);
});

Deno.test("a cell meets a redirect loop with one request (B36)", async () => {
  await using api = new RawServer((say) =>
    say("HTTP/1.1 302 Found\r\nLocation: /v1/a?n=2\r\nContent-Length: 0\r\n\r\n")
  );
  using cell = await openCell(localPolicy([api.origin]));
  assert.equal((await get(cell, { url: `${api.origin}/v1/a?n=1` })).status, 302);
  assert.equal(api.seen.length, 1);
});
