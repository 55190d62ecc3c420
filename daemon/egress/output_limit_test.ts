import assert from "node:assert/strict";
import { fromUtf8, utf8 } from "@custos/core/bytes";
import { OutputLimit } from "./output_limit.ts";

const text = (part: string) => ({ bytes: utf8(part), marker: false });
const mark = { bytes: utf8("[mark]"), marker: true };

Deno.test("OutputLimit counts scrubbed bytes and never cuts a marker (B65)", () => {
  const rows: [number, ReturnType<typeof text>[], string, boolean][] = [
    [10, [text("abc"), mark], "abc[mark]", false],
    [9, [text("abc"), mark], "abc[mark]", false],
    [8, [text("abc"), mark], "abc", true],
    [8, [mark, text("abc")], "[mark]ab", true],
    [8, [text("abc"), mark, text("d")], "abc", true],
    [3, [text("abc")], "abc", false],
    [0, [text("a")], "", true],
    [0, [], "", false],
  ];
  for (const [max, pieces, out, truncated] of rows) {
    const limit = new OutputLimit(max);
    assert.equal(fromUtf8(limit.take(pieces)), out);
    assert.equal(limit.truncated, truncated);
  }
});

Deno.test("OutputLimit counts over several parts", () => {
  const limit = new OutputLimit(5);
  assert.equal(fromUtf8(limit.take([text("abc")])), "abc");
  assert.equal(fromUtf8(limit.take([text("def")])), "de");
  assert.equal(fromUtf8(limit.take([text("g")])), "");
  assert(limit.truncated);
});
