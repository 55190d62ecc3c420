import assert from "node:assert/strict";
import fc from "fast-check";
import { acceptSequence, NEW_WINDOW, type ReplayWindow, WINDOW_SIZE } from "./replay_window.ts";

/** The window after these sequences, each of which must be accepted. */
function after(...sequences: number[]): ReplayWindow {
  return sequences.reduce((window, sequence) => {
    const next = acceptSequence(window, sequence);
    assert.notEqual(next, null, `${sequence} was refused`);
    return next!;
  }, NEW_WINDOW);
}

const ROWS: [name: string, before: number[], sequence: number, accepted: boolean][] = [
  ["the first one", [], 1, true],
  ["a first one that is not 1", [], 500, true],
  ["the next one", [1], 2, true],
  ["one that comes late", [1, 3], 2, true],
  ["one 63 below the highest", [100], 37, true],
  ["one far ahead", [1], 2 ** 40, true],
  ["the highest again", [1], 1, false],
  ["one that came late, again", [1, 3, 2], 2, false],
  ["one before the highest, again", [1, 2, 3], 1, false],
  ["one 64 below the highest", [100], 36, false],
  ["one far below", [1000], 1, false],
  ["one whose window moved away", [1, 65], 1, false],
  ["one seen before a great leap", [1, 64], 1, false],
  ["zero", [], 0, false],
  ["a negative one", [5], -1, false],
  ["a fraction", [5], 5.5, false],
  ["more than a whole number can hold", [5], 2 ** 53, false],
  ["no number", [5], NaN, false],
  ["infinity", [5], Infinity, false],
];

for (const [name, before, sequence, accepted] of ROWS) {
  Deno.test(`acceptSequence() ${accepted ? "accepts" : "refuses"} ${name}`, () => {
    assert.equal(acceptSequence(after(...before), sequence) !== null, accepted);
  });
}

Deno.test("acceptSequence() does not change the window that it is given", () => {
  const window = after(5);
  const copy = structuredClone(window);
  acceptSequence(window, 6);
  acceptSequence(window, 5);
  assert.deepEqual(window, copy);
  assert.deepEqual(NEW_WINDOW, { highest: 0, seen: "0" });
});

Deno.test("acceptSequence() accepts each sequence once, and exactly those within the window (model)", () => {
  const sequences = fc.array(fc.oneof(fc.integer({ min: 1, max: 150 }), fc.integer({ min: 1, max: 1e6 })), {
    maxLength: 200,
  });
  fc.assert(fc.property(sequences, (sequences) => {
    let window = NEW_WINDOW;
    const seen = new Set<number>();
    let highest = 0;
    for (const sequence of sequences) {
      const expected = !seen.has(sequence) && sequence > highest - WINDOW_SIZE;
      const next = acceptSequence(window, sequence);
      assert.equal(next !== null, expected);
      if (next === null) continue;
      seen.add(sequence);
      highest = Math.max(highest, sequence);
      window = JSON.parse(JSON.stringify(next)); // it is stored between messages
      assert.ok(window.seen.length <= WINDOW_SIZE / 4);
    }
  }));
});
