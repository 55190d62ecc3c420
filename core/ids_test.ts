import assert from "node:assert/strict";
import fc from "fast-check";
import { isId, newId, toBase32 } from "./ids.ts";
import { hex } from "./testdata/samples.ts";
import vectors from "./testdata/encodings.json" with { type: "json" };

for (const row of vectors.rows) {
  Deno.test(`toBase32() spells ${row.hex || "nothing"} as RFC 4648 does`, () => {
    assert.equal(toBase32(hex(row.hex)), row.base32);
  });
}

for (const { text, why } of vectors.refused_ids) {
  Deno.test(`isId() refuses ${JSON.stringify(text)}: ${why}`, () => assert.equal(isId(text), false));
}

Deno.test("isId() accepts exactly what 16 bytes can be", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
    const text = toBase32(bytes);
    assert.equal(isId(text), true);
    for (const last of "abcdefghijklmnopqrstuvwxyz234567") {
      assert.equal(isId(text.slice(0, 25) + last), "aeimquy4".includes(last), last);
    }
  }));
});

Deno.test("newId() gives an id, and another one each time", () => {
  const seen = new Set(Array.from({ length: 100 }, newId));
  assert.equal(seen.size, 100);
  assert.ok([...seen].every(isId));
});
