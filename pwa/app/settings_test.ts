import assert from "node:assert/strict";
import { FIRST_SETTINGS, isQuiet, nextMorning, readSettings } from "./settings.ts";

Deno.test("readSettings() takes what fits, and nothing else", () => {
  const rows: [unknown, Partial<typeof FIRST_SETTINGS>][] = [
    [undefined, {}],
    [null, {}],
    ["dark", {}],
    [{ theme: "dark", word_check: true }, { theme: "dark", word_check: true }],
    [{ theme: "pink", word_check: "yes", mutes: {} }, {}],
    [{ quiet: { from: "22:00", to: "07:00" } }, { quiet: { from: "22:00", to: "07:00" } }],
    [{ quiet: { from: "24:00", to: "07:00" } }, {}],
    [{ quiet: { from: "22:00" } }, {}],
  ];
  for (const [stored, settings] of rows) {
    assert.deepEqual(readSettings(stored), { ...FIRST_SETTINGS, ...settings }, JSON.stringify(stored));
  }
});

Deno.test("isQuiet() knows hours that pass midnight", () => {
  const night = { from: "22:00", to: "07:00" };
  const noon = { from: "12:00", to: "13:30" };
  const rows: [typeof night | null, number, number, boolean][] = [
    [null, 23, 0, false],
    [night, 21, 59, false],
    [night, 22, 0, true],
    [night, 6, 59, true],
    [night, 7, 0, false],
    [noon, 12, 0, true],
    [noon, 13, 29, true],
    [noon, 13, 30, false],
    [{ from: "08:00", to: "08:00" }, 8, 0, false],
  ];
  for (const [quiet, hour, minute, is] of rows) {
    assert.equal(isQuiet(quiet, new Date(2026, 0, 5, hour, minute)), is, `${hour}:${minute}`);
  }
});

Deno.test("nextMorning() is today before seven, and tomorrow after", () => {
  assert.equal(nextMorning(new Date(2026, 0, 5, 3)), new Date(2026, 0, 5, 7).getTime());
  assert.equal(nextMorning(new Date(2026, 0, 5, 7)), new Date(2026, 0, 6, 7).getTime());
  assert.equal(nextMorning(new Date(2026, 0, 31, 23)), new Date(2026, 1, 1, 7).getTime());
});
