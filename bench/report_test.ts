import assert from "node:assert/strict";
import { plot } from "./plot.ts";
import { asMarkdown, asText, type Report, shown } from "./report.ts";
import { atLeast, atMost, median } from "./scenario.ts";

const report: Report = {
  machine: {
    date: "2026-01-01 00:00",
    cores: 2,
    cpu: "a cpu",
    system: "linux",
    deno: "2",
    programs: {},
    load: 0.1,
  },
  seconds: 3,
  rounds: 3,
  scenarios: [{
    name: "get",
    method: "how",
    figures: [
      atLeast("GET, custos / mitmproxy", 4.9, "×", 5, "≥ 5 ×"),
      atMost("GET, p99", 4, "ms", 5, "≤ 5 ms"),
      { name: "GET <1 KB>, custos", value: 1_234.5, unit: "requests/s" },
      { name: "GET <1 KB>, nginx", value: 50_000, unit: "requests/s" },
    ],
    notes: ["mitmdump (Debian package mitmproxy)"],
  }],
};

Deno.test("median() is the middle, or the mean of the two in the middle", () => {
  assert.deepEqual([median([3, 1, 2]), median([4, 1, 2, 3]), median([7])], [2, 2.5, 7]);
});

Deno.test("asText() and asMarkdown() say of each bar whether it is met, and name what was left out", () => {
  for (const text of [asText(report), asMarkdown(report)]) {
    assert.match(text, /NOT MET \(≥ 5 ×\)/);
    assert.match(text, /\bmet \(≤ 5 ms\)/);
    assert.match(text, /mitmdump \(Debian package mitmproxy\)/);
  }
});

Deno.test("shown() writes as many digits as mean something", () => {
  const rows: [number, string, string][] = [[0.0812, "×", "0.081 ×"], [4.9, "×", "4.90 ×"], [
    52_500,
    "/s",
    "52,500 /s",
  ]];
  for (const [value, unit, text] of rows) assert.equal(shown({ value, unit }), text);
});

Deno.test("plot() draws a bar for each of custos and its peers, with escaped names and nothing from outside", () => {
  const svg = plot(report);
  assert.equal(svg.match(/<rect x=/g)?.length, 2);
  assert.match(svg, /GET &lt;1 KB>/);
  assert.match(svg, /1,235 custos/);
  assert.doesNotMatch(svg, /<script|href/);
});
