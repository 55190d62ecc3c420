import assert from "node:assert/strict";
import fc from "fast-check";
import { fromBase64url, toHex, utf8 } from "./bytes.ts";
import { FINGERPRINT_PATTERN, fingerprintOf, isNear, toWords, WORD_LIST } from "./fingerprint.ts";
import { sha256 } from "./labels.ts";
import { flipBit, hex } from "./testdata/samples.ts";
import vectors from "./testdata/documents.json" with { type: "json" };
import list from "./eff_large_wordlist.txt" with { type: "text" };

const key = hex(vectors.words_key);
const hash = fromBase64url(vectors.request_hash)!;

Deno.test("WORD_LIST is the EFF large list: 7,776 words, sorted, each once", async () => {
  assert.equal(
    toHex(await sha256(utf8(list))),
    "6d557f0693958fb5e650b68b5bee585eb82cf4da32965505c789e924743bc522",
  );
  assert.equal(WORD_LIST.length, 7776);
  assert.equal(new Set(WORD_LIST).size, 7776);
  assert.deepEqual([...WORD_LIST].sort(), WORD_LIST);
  for (const word of WORD_LIST) assert.match(word, /^[a-z]+(-[a-z]+)?$/);
});

Deno.test("WORD_LIST has the words of the file that the EFF publishes, dice numbers left out", async () => {
  // eff_large_wordlist.txt of 2016: five dice, a tab, a word; this is that file's SHA-256
  const published = WORD_LIST.map((word, i) => {
    const dice = i.toString(6).padStart(5, "0").replace(/./g, (digit) => String(Number(digit) + 1));
    return `${dice}\t${word}\n`;
  }).join("");
  assert.equal(
    toHex(await sha256(utf8(published))),
    "addd35536511597a02fa0a9ff1e5284677b8883b83e986e43f15a3db996b903e",
  );
});

for (const row of vectors.words) {
  Deno.test(`toWords() reads ${row.hex} as "${row.words}"`, () =>
    assert.equal(toWords(hex(row.hex)), row.words));
}

Deno.test("toWords() uses the first 8 bytes only, wherever they lie in their buffer", () => {
  const inside = hex(`ff${vectors.words[1]!.hex}ff`);
  assert.equal(toWords(inside.subarray(1)), vectors.words[1]!.words);
  assert.throws(() => toWords(new Uint8Array(7)));
});

Deno.test("fingerprintOf() gives the vector", async () => {
  assert.equal(await fingerprintOf(key, hash), vectors.fingerprint);
});

Deno.test("fingerprintOf() gives other words for another request or key, in the documented form", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 255 }), async (bit) => {
      const [a, b] = [
        await fingerprintOf(key, flipBit(hash, bit)),
        await fingerprintOf(flipBit(key, bit), hash),
      ];
      for (const words of [a, b]) {
        assert.notEqual(words, vectors.fingerprint);
        assert.match(words, FINGERPRINT_PATTERN);
      }
    }),
    { numRuns: 50 },
  );
});

Deno.test("FINGERPRINT_PATTERN refuses what is not three words", () => {
  assert.match("drop-down t-shirt yo-yo", FINGERPRINT_PATTERN);
  const rows = ["", "a b", "a b c d", "A b c", "a  b c", " a b c", "a b c\n", "a\tb c", "a b 3", "ä b c"];
  for (const text of rows) assert.doesNotMatch(text, FINGERPRINT_PATTERN);
});

const NEAR: [a: string, b: string, near: boolean][] = [
  ["acid badge cable", "acid badge cable", true],
  ["acid badge cable", "acid badge xerox", true],
  ["acid badge cable", "acid xerox cable", true],
  ["acid badge cable", "xerox badge cable", true],
  ["acid badge cable", "acid xerox yarn", false],
  ["acid badge cable", "xerox badge yarn", false],
  ["acid badge cable", "xerox yarn cable", false],
  ["acid badge cable", "badge cable acid", false],
  ["acid badge cable", "cable badge acid", false],
  ["acid acid cable", "cable acid acid", false],
  ["acid badge cable", "xerox yarn zoom", false],
];

for (const [a, b, near] of NEAR) {
  Deno.test(`isNear() says that "${a}" and "${b}" are ${near ? "" : "not "}near`, () => {
    assert.equal(isNear(a, b), near);
    assert.equal(isNear(b, a), near);
  });
}
