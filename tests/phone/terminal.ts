/** The command's streams: data to stdout, words for people to stderr, values and answers from stdin. */

/** Writes one line of data. */
export function say(line: string): void {
  writeAll(Deno.stdout, line);
}

/** Writes one line for people. */
export function note(line: string): void {
  writeAll(Deno.stderr, line);
}

/** Everything on stdin, at most `max` bytes and one more, which the caller refuses. */
export async function readStdin(max: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(max + 1);
  let length = 0;
  while (length < bytes.length) {
    const read = await Deno.stdin.read(bytes.subarray(length));
    if (read === null) break;
    length += read;
  }
  const taken = bytes.slice(0, length);
  bytes.fill(0);
  return taken;
}

/** One line from stdin, without its end; `null` at the end of input. */
export async function readLine(max = 1_024): Promise<string | null> {
  const bytes: number[] = [];
  const one = new Uint8Array(1);
  while (bytes.length < max) {
    if (await Deno.stdin.read(one) === null) {
      if (bytes.length === 0) return null;
      break;
    }
    if (one[0] === 0x0a) break;
    bytes.push(one[0]!);
  }
  return new TextDecoder().decode(Uint8Array.from(bytes)).replace(/\r$/, "");
}

function writeAll(out: { writeSync(bytes: Uint8Array): number }, line: string): void {
  let bytes = new TextEncoder().encode(line + "\n");
  while (bytes.length > 0) bytes = bytes.subarray(out.writeSync(bytes));
}
