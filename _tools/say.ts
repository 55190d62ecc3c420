/** Lines for people and programs: results to stdout, troubles to stderr. */

/** Writes a line to stdout. */
export function say(line: string): void {
  writeAll(Deno.stdout, line);
}

/** Writes a line to stderr. */
export function complain(line: string): void {
  writeAll(Deno.stderr, line);
}

function writeAll(out: { writeSync(bytes: Uint8Array): number }, line: string): void {
  let bytes = new TextEncoder().encode(line + "\n");
  while (bytes.length > 0) bytes = bytes.subarray(out.writeSync(bytes));
}
