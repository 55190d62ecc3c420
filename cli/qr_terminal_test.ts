import assert from "node:assert/strict";
import decodeQR from "qr/decode.js";
import { qrLines } from "./qr_terminal.ts";

/** What a camera sees: each half block as 4 × 4 pixels of the colours that the line asks for. */
function picture(lines: string[]): { width: number; height: number; data: Uint8Array } {
  const rows = lines.flatMap((line) => {
    assert.ok(line.startsWith("\x1b[38;5;16;48;5;231m") && line.endsWith("\x1b[0m"), "explicit colours");
    // deno-lint-ignore no-control-regex
    const cells = [...line.replace(/\x1b\[[0-9;]*m/g, "")];
    return [cells.map((cell) => "▀█".includes(cell)), cells.map((cell) => "▄█".includes(cell))];
  });
  const scale = 4;
  const width = rows[0]!.length * scale;
  const height = rows.length * scale;
  const data = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const value = rows[Math.floor(y / scale)]![Math.floor(x / scale)] ? 0 : 255;
      data.set([value, value, value, 255], (y * width + x) * 4);
    }
  }
  return { width, height, data };
}

const link = `https://phone.example.test/#p=${"Ab3_".repeat(55)}`;

Deno.test("qrLines() makes a code that decodes and fits 80 columns (B138)", () => {
  for (const text of ["https://phone.example.test/#p=short", link]) {
    const lines = qrLines(text, 80);
    assert.ok(lines !== null);
    assert.equal(decodeQR(picture(lines)), text);
  }
});

Deno.test("qrLines() keeps a margin of four modules on each side (B138)", () => {
  const lines = qrLines(link, 80)!;
  // deno-lint-ignore no-control-regex
  const bare = lines.map((line) => line.replace(/\x1b\[[0-9;]*m/g, ""));
  for (const line of bare) assert.match(line, /^ {4}.* {4}$/);
  for (const line of [bare[0]!, bare[1]!, bare.at(-1)!, bare.at(-2)!]) assert.match(line, /^ +$/);
});

Deno.test("qrLines() gives nothing where the code is wider than the terminal", () => {
  assert.equal(qrLines(link, 40), null);
  assert.equal(qrLines("x".repeat(1_500), 80), null);
});
