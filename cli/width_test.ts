import assert from "node:assert/strict";
import { ends, fit, width } from "./width.ts";

Deno.test("width() counts what a terminal draws: wide characters twice, marks not at all", () => {
  const rows: [string, number][] = [["", 0], ["abc", 3], ["日本", 4], ["e\u0301", 1], ["ｆ", 2], [
    "\u{1f4a5}",
    2,
  ], ["…", 1]];
  for (const [text, columns] of rows) assert.equal(width(text), columns, text);
});

Deno.test("fit() and ends() give exactly the columns that are there", () => {
  for (const text of ["", "abc", "日本語のテキスト", "a日b本c語", "e\u0301".repeat(9)]) {
    for (const columns of [1, 2, 3, 5, 8, 40]) {
      assert.equal(width(fit(text, columns)), columns, `${text} ${columns}`);
      assert.equal(width(ends(text, "12:34", columns)), columns, `${text} ${columns}`);
    }
  }
  assert.equal(fit("abcdef", 4), "abc…");
  assert.equal(ends("left", "right", 12), "left   right");
});
