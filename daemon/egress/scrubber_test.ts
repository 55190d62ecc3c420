import assert from "node:assert/strict";
import fc from "fast-check";
import { concat, fromUtf8, utf8 } from "@custos/core/bytes";
import { FormIndex } from "./form_index.ts";
import { scrubForms } from "./scrub_forms.ts";
import { markerFor, type Piece, Scrubber, scrubWhole } from "./scrubber.ts";

const S = "tok_live_4f9c2a7e";
const ODD = 'sk-test/Ab+c=9"q\\z';
const MARK = utf8("[custos:demo-key]");
const INDEX = new FormIndex(scrubForms(utf8(S), { kind: "bearer" }));

function bytesOf(pieces: readonly Piece[]): Uint8Array {
  return concat(...pieces.map((piece) => piece.bytes));
}

function latin1(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

function split(data: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...[...cuts].sort((a, b) => a - b), data.length];
  return at.slice(1).map((end, i) => data.subarray(at[i], end));
}

/** Leftmost, longest at each place: the plainest model there is. */
function model(data: Uint8Array, forms: readonly Uint8Array[], marker: Uint8Array): number[] {
  const out: number[] = [];
  const sorted = [...forms].sort((a, b) => b.length - a.length);
  for (let at = 0; at < data.length;) {
    const form = sorted.find((form) => form.every((byte, i) => data[at + i] === byte));
    if (form === undefined) out.push(data[at++]!);
    else {
      out.push(...marker);
      at += form.length;
    }
  }
  return out;
}

Deno.test("Scrubber finds a secret cut at every place and in single bytes (B59)", () => {
  const odd = new FormIndex(scrubForms(utf8(ODD), { kind: "bearer" }));
  const rows: [FormIndex, string, string][] = [
    [INDEX, S, "tok_"],
    [INDEX, btoa(S), "dG9r"],
    [odd, 'sk-test\\u002fAb+c=9\\"q\\\\z', "sk-t"], // cut inside an escape
    [odd, "sk-test%2FAb%2Bc%3D9%22q%5Cz", "sk-t"],
  ];
  for (const [index, form, start] of rows) {
    const data = utf8(`before \u{1f511}${form}\u{1f511} after`); // cut inside a character beside it
    const whole = utf8("before \u{1f511}[custos:demo-key]\u{1f511} after");
    for (let cut = 0; cut <= data.length; cut++) {
      const scrubber = new Scrubber(index, MARK);
      const parts = split(data, [cut]).map((part) => bytesOf(scrubber.push(part)));
      // nothing that begins the secret is shown before it is known to be something else
      assert(!latin1(parts[0]!).includes(start));
      assert.deepEqual(concat(...parts, bytesOf(scrubber.end())), whole);
    }
    const single = new Scrubber(index, MARK);
    const parts = Array.from(data, (byte) => bytesOf(single.push(Uint8Array.of(byte))));
    assert.deepEqual(concat(...parts, bytesOf(single.end())), whole);
  }
});

Deno.test("Scrubber passes text at once that begins no form (B79)", () => {
  const scrubber = new Scrubber(INDEX, MARK);
  assert.equal(fromUtf8(bytesOf(scrubber.push(utf8("data: one\n\n")))), "data: one\n\n");
  assert.equal(fromUtf8(bytesOf(scrubber.push(utf8("data: to")))), "data: ");
  assert.equal(fromUtf8(bytesOf(scrubber.push(utf8("day\n\n")))), "today\n\n");
});

Deno.test("Scrubber drops what begins a form at a broken end, and keeps it at a whole one (B59, B65)", () => {
  for (const tail of ["tok_", "tok_live_4f9c2a7", "dG9rX2xpdmVfNGY5"]) {
    const cut = new Scrubber(INDEX, MARK);
    const before = bytesOf(cut.push(utf8(`data ${tail}`)));
    assert.equal(fromUtf8(concat(before, bytesOf(cut.cut()))), "data ");
    const end = new Scrubber(INDEX, MARK);
    assert.equal(
      fromUtf8(concat(bytesOf(end.push(utf8(`data ${tail}`))), bytesOf(end.end()))),
      `data ${tail}`,
    );
  }
  const short = new Scrubber(INDEX, MARK);
  assert.equal(fromUtf8(concat(bytesOf(short.push(utf8("is it to"))), bytesOf(short.cut()))), "is it to");
});

Deno.test("Scrubber takes the longest form at a place and the first of two that overlap", () => {
  const forms = ["abcdabcdabcd", "abcdabcdabcd-long", "dabcd-long-end"].map(utf8);
  const index = new FormIndex(forms);
  const scrub = (text: string) => fromUtf8(scrubWhole(index, utf8("[]"), utf8(text)).bytes);
  assert.equal(scrub("xabcdabcdabcd-long-end"), "x[]-end");
  assert.equal(scrub("xabcdabcdabcd-lon"), "x[]-lon");
  assert.equal(scrub("abcdabcdabcdabcdabcdabcd"), "[][]");
  assert.equal(scrub("abcdabcdabcdabcd-long"), "[]abcd-long");
  // a match that runs over an open end leaves a new open end behind it
  const across = new Scrubber(new FormIndex(["abcc", "ccabb"].map(utf8)), utf8("[]"));
  assert.equal(
    fromUtf8(bytesOf([...across.push(utf8("abccab")), ...across.push(utf8("cc")), ...across.end()])),
    "[][]",
  );
});

Deno.test("Scrubber keeps back less than the longest form, whatever comes", () => {
  const scrubber = new Scrubber(INDEX, MARK);
  let given = 0;
  let shown = 0;
  for (const byte of utf8(`${S.slice(0, 12)}${S.slice(0, 3)}`.repeat(40))) {
    given++;
    shown += bytesOf(scrubber.push(Uint8Array.of(byte))).length;
    assert(given - shown < INDEX.longest);
  }
  assert.equal(scrubber.redactions, 0);
});

Deno.test("Scrubber agrees with the plain model for any forms, data and splitting", () => {
  // two letters and data made of parts of forms, so that overlaps, prefixes and open ends are common
  const word = fc.array(fc.constantFrom(97, 98), { minLength: 3, maxLength: 9 });
  const part = fc.record({ form: fc.nat(), from: fc.nat(8), to: fc.nat(9) });
  const cases = fc.record({
    forms: fc.array(word, { minLength: 1, maxLength: 5 }),
    parts: fc.array(part, { minLength: 2, maxLength: 12 }),
    cuts: fc.array(fc.nat(100), { minLength: 1, maxLength: 12 }),
  });
  fc.assert(
    fc.property(cases, ({ forms: words, parts, cuts }) => {
      const forms = words.map((letters) => Uint8Array.from(letters));
      const data = concat(
        ...parts.map(({ form, from, to }) => forms[form % forms.length]!.subarray(from, to)),
      );
      const scrubber = new Scrubber(new FormIndex(forms), utf8("[*]"));
      const out = split(data, cuts.map((cut) => cut % (data.length + 1))).flatMap((chunk) =>
        scrubber.push(chunk)
      );
      out.push(...scrubber.end());
      assert.deepEqual([...bytesOf(out)], model(data, forms, utf8("[*]")));
      assert.equal(scrubber.redactions, out.filter((piece) => piece.marker).length);
    }),
    { numRuns: 3000 },
  );
});

Deno.test("Scrubber lets no form of any secret through any splitting, and all else byte for byte (B81)", () => {
  const cases = fc.record({
    secret: fc.string({ minLength: 12, maxLength: 60, unit: "grapheme-ascii" }),
    pick: fc.nat(),
    noise: fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 2, maxLength: 5 }),
    cuts: fc.array(fc.nat(2000), { maxLength: 12 }),
  });
  fc.assert(
    fc.property(cases, ({ secret, pick, noise, cuts }) => {
      const forms = scrubForms(utf8(secret), { kind: "bearer" });
      const index = new FormIndex(forms);
      const form = forms[pick % forms.length]!;
      const data = concat(...noise.flatMap((part, i) => i === 0 ? [part] : [form, part]));
      const scrubber = new Scrubber(index, utf8("[*]"));
      const parts = split(data, cuts.map((cut) => cut % (data.length + 1)));
      const out = bytesOf([...parts.flatMap((part) => scrubber.push(part)), ...scrubber.end()]);
      assert.deepEqual([...out], model(data, forms, utf8("[*]")));
      assert(scrubber.redactions >= noise.length - 1);
    }),
    { numRuns: 200 },
  );
});

Deno.test("markerFor() gives a marker that a second scrubbing leaves alone (B69)", () => {
  const marker = markerFor("demo-key", INDEX);
  assert.equal(fromUtf8(marker), "[custos:demo-key]");
  const once = scrubWhole(INDEX, marker, utf8(`${S} ${S}`)).bytes;
  assert.deepEqual(scrubWhole(INDEX, marker, once).bytes, once);
  const own = new FormIndex(scrubForms(utf8("custos:demo-key"), { kind: "bearer" }));
  assert.equal(fromUtf8(markerFor("demo-key", own)), "[custos]");
});
