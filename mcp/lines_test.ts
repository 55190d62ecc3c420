import assert from "node:assert/strict";
import { type Line, LineSplitter } from "./lines.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const line = (text: string): Line => ({ kind: "line", text });

Deno.test("LineSplitter gives the same lines wherever the bytes are cut (B93)", () => {
  const all = bytes("žluťoučký 🐎\n\n{}\r\nlast");
  const expected = [line("žluťoučký 🐎"), line(""), line("{}\r"), line("last")];
  for (let cut = 0; cut <= all.length; cut++) {
    const lines = new LineSplitter();
    assert.deepEqual([
      ...lines.push(all.subarray(0, cut)),
      ...lines.push(all.subarray(cut)),
      ...lines.flush(),
    ], expected);
  }
  const one = new LineSplitter();
  const got = [...all].flatMap((byte) => one.push(Uint8Array.of(byte)));
  assert.deepEqual([...got, ...one.flush()], expected);
});

Deno.test("LineSplitter drops one line that is too long, and reads the next", () => {
  const lines = new LineSplitter(4);
  assert.deepEqual(lines.push(bytes("abcd\nabc")), [line("abcd")]);
  assert.deepEqual(lines.push(bytes("de")), []);
  assert.deepEqual(lines.push(bytes("fgh\nok\n")), [{ kind: "too_long" }, line("ok")]);
  assert.deepEqual(lines.flush(), []);
});

Deno.test("LineSplitter drops one line that is not UTF-8, and reads the next", () => {
  const lines = new LineSplitter();
  assert.deepEqual(lines.push(Uint8Array.of(0xc3, 0x28, 0x0a, 0x7b, 0x7d, 0x0a)), [
    { kind: "not_utf8" },
    line("{}"),
  ]);
});

Deno.test("LineSplitter drops a byte order mark (B86)", () => {
  const lines = new LineSplitter();
  assert.deepEqual(lines.push(bytes("\ufeff{}\n\ufeff{}\n")), [line("{}"), line("{}")]);
});

Deno.test("LineSplitter keeps no view of the caller's buffer", () => {
  const lines = new LineSplitter();
  const buffer = bytes("ab");
  lines.push(buffer);
  buffer.fill(0x7a);
  assert.deepEqual(lines.push(bytes("c\n")), [line("abc")]);
});
