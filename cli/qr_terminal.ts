/**
 * A QR code for terminals: two rows of modules in one line of half blocks, with explicit black and white, so that a dark
 * theme cannot invert it, and the margin of four modules that cameras need (ISO/IEC 18004 §9.1; B138).
 */

import encodeQR from "qr";

const MARGIN = 4;
const BLACK_ON_WHITE = "\x1b[38;5;16;48;5;231m";
const RESET = "\x1b[0m";
const BLOCKS = [" ", "▄", "▀", "█"]; // upper × 2 + lower; dark is ink

/** The lines of the code, or `null` where they are wider than `columns`. */
export function qrLines(text: string, columns: number): string[] | null {
  const modules = encodeQR(text, "raw", { ecc: "low", border: MARGIN });
  const width = modules[0]?.length ?? 0;
  if (width === 0 || width > columns) return null;
  const lines: string[] = [];
  for (let row = 0; row < modules.length; row += 2) {
    const cells = Array.from({ length: width }, (_, column) => {
      const upper = modules[row]?.[column] === true ? 2 : 0;
      const lower = modules[row + 1]?.[column] === true ? 1 : 0;
      return BLOCKS[upper + lower]!;
    });
    lines.push(`${BLACK_ON_WHITE}${cells.join("")}${RESET}`);
  }
  return lines;
}
