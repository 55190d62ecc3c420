import assert from "node:assert/strict";
import { readFrame } from "./frames.ts";

const read = (text: string) => readFrame({ kind: "line", text });

Deno.test("readFrame() answers what is not a message, with the sender's id where it can be seen (B86, B87)", () => {
  const rows: [string, number, string | number | null][] = [
    ["not json", -32700, null],
    ['{"jsonrpc":"2.0","method":"x","params":', -32700, null],
    ["[]", -32600, null],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, null],
    ["null", -32600, null],
    ["42", -32600, null],
    ['"x"', -32600, null],
    ["{}", -32600, null],
    ['{"id":99,"method":"tools/call"}', -32600, 99],
    ['{"jsonrpc":"2.0","id":100,"method":"tools/call","params":"x"}', -32600, 100],
    ['{"jsonrpc":"2.0","id":"a","method":7}', -32600, "a"],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, null],
  ];
  for (const [text, code, id] of rows) {
    const frame = read(text);
    assert.equal(frame.kind, "refusal", text);
    if (frame.kind !== "refusal") continue;
    assert.equal(frame.refusal.error.code, code, text);
    assert.equal(frame.refusal.id, id, text);
  }
});

Deno.test("readFrame() answers a line that was dropped for its length or its encoding", () => {
  for (const kind of ["too_long", "not_utf8"] as const) assert.equal(readFrame({ kind }).kind, "refusal");
});

Deno.test("readFrame() skips blank lines", () => {
  for (const text of ["", " ", "\r", "\t"]) assert.equal(read(text).kind, "nothing");
});

Deno.test("readFrame() passes requests, notifications and responses on, with or without a carriage return", () => {
  for (
    const text of [
      '{"jsonrpc":"2.0","id":1,"method":"ping"}\r',
      '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"a"}}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","id":1,"result":{}}',
      '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}',
    ]
  ) assert.deepEqual(read(text), { kind: "message", message: JSON.parse(text) });
});

Deno.test("readFrame() gives an initialize without a version the newest one, and leaves another version alone (B100)", () => {
  const initialize = (params: object) => {
    const frame = read(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }));
    assert.equal(frame.kind, "message");
    return frame.kind === "message" ? (frame.message as unknown as { params: object }).params : null;
  };
  assert.match((initialize({ capabilities: {} }) as { protocolVersion: string }).protocolVersion, /^20\d\d-/);
  assert.deepEqual(initialize({ protocolVersion: "2099-01-01" }), { protocolVersion: "2099-01-01" });
});
