import assert from "node:assert/strict";
import fc from "fast-check";
import { fromUtf8, toHex, utf8 } from "./bytes.ts";
import { canonicalBytes, parseCanonical } from "./canonical.ts";
import { labelledHash } from "./labels.ts";
import { hex, kindOf } from "./testdata/samples.ts";
import vectors from "./testdata/canonical.json" with { type: "json" };

const double = (ieee754: string) => new DataView(hex(ieee754).buffer).getFloat64(0);
const textOf = (value: unknown) => fromUtf8(canonicalBytes(value));

for (const { ieee754, json } of vectors.numbers) {
  Deno.test(`canonicalBytes() writes the double ${ieee754} as ${json} (RFC 8785 appendix B)`, () => {
    assert.equal(textOf(double(ieee754)), json);
  });
}

for (const { ieee754, why } of vectors.refused_numbers) {
  Deno.test(`canonicalBytes() refuses the double ${ieee754} (${why})`, async () => {
    assert.equal(await kindOf(() => canonicalBytes({ a: [double(ieee754)] })), "bad_request");
  });
}

for (const { name, input, canonical } of vectors.texts) {
  Deno.test(`canonicalBytes() gives the text of RFC 8785 ${name}`, async () => {
    assert.equal(textOf(JSON.parse(input)), canonical);
    assert.deepEqual(parseCanonical(utf8(canonical)), JSON.parse(input));
    assert.equal(await kindOf(() => parseCanonical(utf8(input))), "bad_request");
  });
}

for (const { text, why } of vectors.refused) {
  Deno.test(`parseCanonical() refuses ${JSON.stringify(text)}: ${why}`, async () => {
    assert.equal(await kindOf(() => parseCanonical(utf8(text))), "bad_request");
  });
}

Deno.test("parseCanonical() refuses broken UTF-8", async () => {
  assert.equal(await kindOf(() => parseCanonical(Uint8Array.of(0x22, 0xff, 0x22))), "bad_request");
});

Deno.test("parseCanonical() is not brought down by a document that nests as deep as a message can", async () => {
  const deep = "[".repeat(65_000) + "]".repeat(65_000);
  assert.equal(await kindOf(() => parseCanonical(utf8(deep))), null);
  assert.equal(await kindOf(() => parseCanonical(utf8(deep.slice(0, -1)))), "bad_request");
});

Deno.test("canonicalBytes() refuses what I-JSON cannot say", async () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const rows: [string, unknown][] = [
    ["a cycle", cycle],
    ["a lone surrogate", "\ud800"],
    ["a lone surrogate in a key", { "\udfff": 1 }],
    ["a big integer", 1n],
    ["nothing", undefined],
    ["a function", () => 1],
  ];
  for (const [name, value] of rows) {
    assert.equal(await kindOf(() => canonicalBytes(value)), "bad_request", name);
  }
});

Deno.test("canonicalBytes() leaves out members that are undefined", () => {
  assert.equal(textOf({ b: undefined, a: 1 }), `{"a":1}`);
});

const json = fc.jsonValue({ maxDepth: 4 }).filter((value) => JSON.stringify(value).isWellFormed());

Deno.test("canonicalBytes() is a fixed point: reading its form and writing it again changes no byte", () => {
  fc.assert(fc.property(json, (value) => {
    const bytes = canonicalBytes(value);
    assert.equal(toHex(canonicalBytes(parseCanonical(bytes))), toHex(bytes));
  }));
});

Deno.test("canonicalBytes() does not depend on the order in which members were set", () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.integer()), (members) => {
    const reversed = Object.fromEntries(Object.entries(members).reverse());
    assert.equal(textOf(reversed), textOf(members));
  }));
});

Deno.test("parseCanonical() refuses a canonical document with one blank more, anywhere outside its strings", () => {
  fc.assert(fc.property(json, fc.constantFrom(" ", "\n", "\t", "\r"), (value, blank) => {
    const text = textOf(value);
    for (const spoiled of [blank + text, text + blank]) {
      assert.throws(() => parseCanonical(utf8(spoiled)), { kind: "bad_request" });
    }
  }));
});

Deno.test("labelledHash() of a canonical document changes with any member", async () => {
  await fc.assert(
    fc.asyncProperty(json, json, async (a, b) => {
      fc.pre(textOf(a) !== textOf(b));
      const hash = async (value: unknown) => toHex(await labelledHash("request", canonicalBytes({ value })));
      assert.notEqual(await hash(a), await hash(b));
    }),
    { numRuns: 50 },
  );
});
