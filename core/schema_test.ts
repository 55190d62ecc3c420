import assert from "node:assert/strict";
import {
  base64urlOf,
  base64urlUpTo,
  decode,
  exactly,
  flag,
  hash,
  id,
  list,
  nullable,
  oneOf,
  optional,
  pattern,
  type Schema,
  shape,
  text,
  timeMs,
  whole,
  word,
} from "./schema.ts";
import { anyHash, errorOf, kindOf } from "./testdata/samples.ts";

type Row = [name: string, schema: Schema<unknown>, good: unknown[], bad: unknown[]];
const schema = <T>(of: Schema<T>) => of as unknown as Schema<unknown>;
const s = { a: text(3) };

const ROWS: Row[] = [
  [
    "shape()",
    schema(shape<{ a: string }>(s)),
    [{ a: "x" }],
    [
      {},
      { a: 1 },
      { a: "x", b: 1 },
      { a: "x", b: undefined },
      JSON.parse(`{"a":"x","__proto__":1}`),
      [],
      null,
      "x",
    ],
  ],
  ["shape() of nothing", schema(shape<object>({})), [{}], [{ constructor: 1 }, null, []]],
  [
    "optional()",
    schema(shape<{ a?: string | undefined }>({ a: optional(text(3)) })),
    [{}, { a: "x" }],
    [{ a: null }, { a: 1 }, { b: 1 }],
  ],
  ["nullable()", schema(nullable(text(3))), [null, "x"], [undefined, 0, "long"]],
  ["list()", schema(list(text(3), 2, 1)), [["a"], ["a", "b"]], [[], ["a", "b", "c"], [1], "ab", {
    0: "a",
    length: 1,
  }]],
  ["oneOf()", schema(oneOf<unknown>(schema(exactly(1)), schema(exactly("a")))), [1, "a"], [2, "1", null]],
  ["exactly()", schema(exactly(1)), [1], ["1", 1.5, true, null]],
  ["word()", schema(word("on", "off")), ["on", "off"], ["ON", "", "on ", 0]],
  ["text()", schema(text(3, 1)), ["a", "€€€", "🙂🙂🙂"], ["", "abcd", "🙂🙂🙂🙂", "\ud800", 1, null]],
  ["pattern()", schema(pattern(/^[a-z]+$/)), ["a"], ["", "a\n", "A", 1]],
  ["whole()", schema(whole(0, 10)), [0, 10], [-1, 11, 1.5, NaN, Infinity, "1", 1n]],
  ["timeMs", schema(timeMs), [0, 8.64e15], [-1, 8.64e15 + 2, 0.5, "0"]],
  ["flag", schema(flag), [true, false], [0, 1, "true", null]],
  ["id", schema(id), ["aaaaaaaaaaaaaaaaaaaaaaaaaa"], ["aaaaaaaaaaaaaaaaaaaaaaaaab", "", 1]],
  ["base64urlOf()", schema(base64urlOf(1)), ["AA", "_w"], ["AB", "AAA", "AA==", "", "/w", 1]],
  ["base64urlUpTo()", schema(base64urlUpTo(2)), ["", "AA", "AAA"], ["AAAA", "AB", "A", "AA=", 1]],
  ["hash", schema(hash), [anyHash(7)], [anyHash(7) + "A", anyHash(7).slice(1), "", 1]],
];

for (const [name, of, good, bad] of ROWS) {
  Deno.test(`${name} accepts what it says and refuses everything beside it`, async () => {
    for (const value of good) assert.deepEqual(decode(of, value, "value"), value);
    for (const value of bad) {
      assert.equal(await kindOf(() => decode(of, value, "value")), "bad_request", Deno.inspect(value));
    }
  });
}

Deno.test("decode() names the member that does not fit, and never its value", async () => {
  const of = shape<{ inner: { a: string } }>({ inner: shape<{ a: string }>({ a: text(3) }) });
  const error = await errorOf(() => decode(of, { inner: { a: "hunter2" } }, "thing"));
  assert.equal(error.message, `This is not a valid thing at "inner.a". Nothing was done with it.`);
});

Deno.test("decode() does not repeat a member's name that could say something else", async () => {
  const of = list(text(3), 3) as unknown as Schema<unknown>;
  const error = await errorOf(() => decode(of, Object.assign([], { 0: 1 }), "thing"));
  assert.match(error.message, /at "0"/);
  const record = shape<{ a: string }>({ a: text(3) });
  const odd = await errorOf(() => decode(record, { a: "x", "\u001b[2J approved": 1 }, "thing"));
  assert.ok(!odd.message.includes("approved"));
});
