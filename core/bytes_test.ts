import assert from "node:assert/strict";
import fc from "fast-check";
import {
  concat,
  equalBytes,
  fromBase64,
  fromBase64url,
  fromHex,
  fromUtf8,
  toBase64,
  toBase64url,
  toHex,
  utf8,
} from "./bytes.ts";
import vectors from "./testdata/encodings.json" with { type: "json" };

for (const row of vectors.rows) {
  Deno.test(`bytes.ts spells ${row.hex || "nothing"} as RFC 4648 does, and reads it back`, () => {
    const bytes = fromHex(row.hex)!;
    assert.deepEqual([toHex(bytes), toBase64url(bytes), toBase64(bytes)], [
      row.hex,
      row.base64url,
      row.base64,
    ]);
    assert.deepEqual(fromBase64url(row.base64url), bytes);
    assert.deepEqual(fromBase64(row.base64), bytes);
  });
}

for (const { text, why } of vectors.refused_base64url) {
  Deno.test(`fromBase64url() refuses ${JSON.stringify(text)}: ${why} (B115)`, () => {
    assert.equal(fromBase64url(text), null);
  });
}

Deno.test("fromBase64url() accepts one spelling of each value, whatever its length", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
    const text = toBase64url(bytes);
    assert.deepEqual(fromBase64url(text), Uint8Array.from(bytes));
    assert.equal(fromBase64url(`${text}=`), null);
  }));
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom(..."AQgw_-8") }), (text) => {
    const bytes = fromBase64url(text);
    assert.ok(bytes === null || toBase64url(bytes) === text);
  }));
});

Deno.test("toBase64() takes more bytes than one call of fromCharCode does", () => {
  const bytes = Uint8Array.from({ length: 200_001 }, (_, i) => i % 251);
  assert.deepEqual(fromBase64(toBase64(bytes)), bytes);
});

Deno.test("fromHex() reads both cases and refuses what is not pairs of digits", () => {
  assert.deepEqual(fromHex("00fFA0"), Uint8Array.of(0, 255, 160));
  for (const text of ["0", "0g", "0x00", " 00", "00\n", "é0"]) assert.equal(fromHex(text), null, text);
});

Deno.test("fromUtf8() refuses bytes that are not well-formed UTF-8 and keeps a byte order mark", () => {
  const rows: [string, number[]][] = [
    ["a lone continuation", [0x80]],
    ["an overlong slash", [0xc0, 0xaf]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["a cut character", [0xe2, 0x82]],
    ["a byte beyond Unicode", [0xf5, 0x80, 0x80, 0x80]],
  ];
  for (const [name, bytes] of rows) assert.throws(() => fromUtf8(Uint8Array.from(bytes)), TypeError, name);
  assert.equal(fromUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)), "\ufeffa");
});

Deno.test("fromUtf8() gives back every well-formed text", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    fc.pre(text.isWellFormed());
    assert.equal(fromUtf8(utf8(text)), text);
  }));
});

Deno.test("equalBytes() tells apart values that differ in one bit or in length", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), (bytes, bit) => {
    const other = Uint8Array.from(bytes);
    other[Math.floor(bit / 8) % other.length]! ^= 1 << (bit % 8);
    assert.equal(equalBytes(bytes, Uint8Array.from(bytes)), true);
    assert.equal(equalBytes(bytes, other), false);
    assert.equal(equalBytes(bytes, bytes.subarray(1)), false);
  }));
});

Deno.test("concat() copies its parts in order", () => {
  const part = Uint8Array.of(1, 2);
  const all = concat(part, new Uint8Array(0), Uint8Array.of(3));
  part.fill(9);
  assert.deepEqual(all, Uint8Array.of(1, 2, 3));
});
