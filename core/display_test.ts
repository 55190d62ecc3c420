import assert from "node:assert/strict";
import fc from "fast-check";
import { displayLine, displaySafe } from "./display.ts";

const UNTOUCHED: [script: string, text: string][] = [
  ["English", "Create an issue in a/b: it's 50 % done (see #12) & <ok>"],
  ["German", "Größe geändert, Straße überprüft"],
  ["French, composed of letters and marks", "de\u0301ja\u0300 vu, ça va"],
  ["Greek", "Καλημέρα κόσμε"],
  ["Russian", "Создать задачу, ёлка"],
  ["Arabic", "أنشئ مشكلة جديدة، مُحَمَّد"],
  ["Hebrew with vowel signs", "שָׁלוֹם עולם"],
  ["Hindi", "नमस्ते दुनिया"],
  ["Thai", "สวัสดีชาวโลก ที่นี่"],
  ["Chinese", "创建一个问题，并通知团队。"],
  ["Japanese", "課題を作成します。カタカナ"],
  ["Korean", "이슈를 만들어 주세요"],
  ["Vietnamese", "Tạo một vấn đề mới"],
  ["Georgian, Armenian and Ethiopic", "გამარჯობა Բարեւ ሰላም"],
  ["symbols and single emoji", "€ ½ → ✓ 🙂 🚀"],
];

for (const [script, text] of UNTOUCHED) {
  Deno.test(`displaySafe() leaves text as it is: ${script}`, () => assert.equal(displaySafe(text), text));
}

const ESCAPED: [name: string, text: string, shown: string][] = [
  // B103
  [
    "terminal controls",
    "ok\u001b[2J\u001b[H\u001b]52;c;ZXZpbA==\u0007\u001b]8;;https://evil.test\u0007click\u009b31m",
    "ok\\u{1b}[2J\\u{1b}[H\\u{1b}]52;c;ZXZpbA==\\u{7}\\u{1b}]8;;https://evil.test\\u{7}click\\u{9b}31m",
  ],
  ["NUL, backspace, delete", "a\0b\bc\u007fd", "a\\u{0}b\\u{8}c\\u{7f}d"],
  // B106
  [
    "a forged field",
    "list files\nHost: api.bank.example\r\nRisk: low",
    "list files\\u{a}Host: api.bank.example\\u{d}\\u{a}Risk: low",
  ],
  ["other line ends", "a\u2028b\u2029c\u0085d\u000be\u000cf", "a\\u{2028}b\\u{2029}c\\u{85}d\\u{b}e\\u{c}f"],
  ["a tab", "a\tb", "a\\u{9}b"],
  // B104
  ["a reversed name", "delete \u202etxt.elif\u202c", "delete \\u{202e}txt.elif\\u{202c}"],
  [
    "bidi isolates and marks",
    "\u2066a\u2067b\u2068c\u2069\u200e\u200f\u061c",
    "\\u{2066}a\\u{2067}b\\u{2068}c\\u{2069}\\u{200e}\\u{200f}\\u{61c}",
  ],
  ["bidi embeddings", "\u202aa\u202bb\u202d", "\\u{202a}a\\u{202b}b\\u{202d}"],
  ["a zero-width space in a path", "/v1/pay\u200bments", "/v1/pay\\u{200b}ments"],
  ["joiners", "a\u200cb\u200dc\u2060d", "a\\u{200c}b\\u{200d}c\\u{2060}d"],
  ["a soft hyphen", "pay\u00adments", "pay\\u{ad}ments"],
  ["a byte order mark", "\ufeffa", "\\u{feff}a"],
  ["tag characters", "a\u{e0041}\u{e007f}", "a\\u{e0041}\\u{e007f}"],
  ["variation selectors", "a\ufe0f\u{e0100}", "a\\u{fe0f}\\u{e0100}"],
  ["an emoji of several joined ones", "👩\u200d💻", "👩\\u{200d}💻"],
  [
    "invisible letters",
    "a\u115f\u1160\u3164\uffa0\u2800b",
    "a\\u{115f}\\u{1160}\\u{3164}\\u{ffa0}\\u{2800}b",
  ],
  ["Khmer vowels that are never drawn", "a\u17b4b\u17b5", "a\\u{17b4}b\\u{17b5}"],
  [
    "blanks that look like another",
    "a\u00a0b\u3000c\u2003d\u202fe",
    "a\\u{a0}b\\u{3000}c\\u{2003}d\\u{202f}e",
  ],
  ["private use", "a\ue000\u{f0000}", "a\\u{e000}\\u{f0000}"],
  ["unassigned", "a\u0378\uffff", "a\\u{378}\\u{ffff}"],
  ["annotations", "a\ufff9b\ufffac\ufffb", "a\\u{fff9}b\\u{fffa}c\\u{fffb}"],
  ["a lone surrogate", "a\ud800b", "a\ufffdb"],
];

for (const [name, text, shown] of ESCAPED) {
  Deno.test(`displaySafe() shows what cannot be seen: ${name}`, () => assert.equal(displaySafe(text), shown));
}

Deno.test("displaySafe() shows at most four marks on one letter and counts out the rest (B104)", () => {
  const marks = "\u0301".repeat(300);
  assert.equal(displaySafe(`a${marks}`), `a${"\u0301".repeat(4)}${"\\u{301}".repeat(296)}`);
  assert.equal(displaySafe("a\u0301\u0302\u0303\u0304"), "a\u0301\u0302\u0303\u0304");
});

/** Everything that Unicode says is not to be drawn, moves its neighbours, or ends a line. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Pattern_White_Space}]/u;

Deno.test("displaySafe() lets no code point of Unicode through that cannot be seen, but the blank", () => {
  const through: string[] = [];
  for (let block = 0; block <= 0x10ffff; block += 0x400) {
    const characters = Array.from({ length: 0x400 }, (_, i) => String.fromCodePoint(block + i))
      .filter((character) => HIDDEN.test(character) && character !== " ");
    if (!HIDDEN.test(displaySafe(characters.join("a")).replaceAll(" ", ""))) continue;
    through.push(...characters.filter((character) => HIDDEN.test(displaySafe(character))));
  }
  assert.deepEqual(through, []);
});

Deno.test("displaySafe() gives one line without controls, whatever it is given, and is stable", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
    const safe = displaySafe(text);
    assert.ok(safe.replaceAll(" ", "").search(HIDDEN) < 0);
    assert.ok(!/\p{M}{5}/u.test(safe));
    assert.equal(displaySafe(safe), safe);
  }));
});

Deno.test("displayLine() leaves text that fits and cuts longer text in the middle, with the number of what is hidden", () => {
  assert.equal(displayLine("abc", 3), "abc");
  assert.equal(
    displayLine(`${"a".repeat(50)}${"b".repeat(50)}`, 32),
    `${"a".repeat(10)} …80… ${"b".repeat(10)}`,
  );
});

Deno.test("displayLine() never cuts the end", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 });
  fc.assert(fc.property(text, fc.integer({ min: -5, max: 80 }), (text, max) => {
    const safe = displaySafe(text);
    const line = displayLine(text, max);
    const last = [...safe].at(-1)!;
    assert.ok(line.endsWith(last));
    const hidden = /^([^]*) …(\d+)… ([^]*)$/.exec(line);
    if (line === safe) return;
    assert.ok(hidden !== null && safe.startsWith(hidden[1]!) && safe.endsWith(hidden[3]!));
    const shown = [...hidden[1]!].length + [...hidden[3]!].length;
    assert.equal(shown + Number(hidden[2]), [...safe].length);
  }));
});

Deno.test("displayLine() escapes before it cuts, so that a long run of escapes cannot hide what follows", () => {
  const line = displayLine(`${"\u202e".repeat(40)}rm -rf`, 40);
  assert.ok(line.endsWith("rm -rf") && !line.includes("\u202e"));
});
