/** {@link Io} of a real process. Needs no permission: streams, terminals and their size are free, variables are listed. */

import { type Io, OutputClosed } from "./io.ts";

const MAX_LINE_BYTES = 4_096;

/** The process's own streams. */
export function systemIo(): Io {
  const terminals = {
    stdin: Deno.stdin.isTerminal(),
    stdout: Deno.stdout.isTerminal(),
    stderr: Deno.stderr.isTerminal(),
  };
  const encoder = new TextEncoder();
  const plain = (env("NO_COLOR") ?? "") !== "" || env("TERM") === "dumb";

  let ticking: ReturnType<typeof setInterval> | undefined;

  /** Takes the line that counts away: what is written next stands in its place. */
  function still(): void {
    if (ticking === undefined) return;
    clearInterval(ticking);
    ticking = undefined;
    toStderr("\r\x1b[K");
  }

  async function out(data: string | Uint8Array): Promise<void> {
    still();
    let rest = typeof data === "string" ? encoder.encode(data) : data;
    try {
      while (rest.length > 0) rest = rest.subarray(await Deno.stdout.write(rest));
    } catch (error) {
      if (error instanceof Deno.errors.BrokenPipe) throw new OutputClosed();
      throw error;
    }
  }

  function err(text: string): void {
    still();
    toStderr(text);
  }

  function countdown(line: (left_ms: number) => string, ms: number): void {
    still();
    const end_ms = Date.now() + ms;
    const draw = () => toStderr(`\r${line(Math.max(0, end_ms - Date.now()))}\x1b[K`);
    ticking = setInterval(draw, 1_000);
    draw();
  }

  function toStderr(text: string): void {
    let rest = encoder.encode(text);
    try {
      while (rest.length > 0) rest = rest.subarray(Deno.stderr.writeSync(rest));
    } catch {
      // nobody reads stderr: there is no other place to say so
    }
  }

  return {
    terminals,
    columns: columns(),
    colour: terminals.stdout && terminals.stderr && !plain,
    out,
    err,
    ...(terminals.stderr && env("TERM") !== "dumb" ? { countdown } : {}),
    async tty(line) {
      still();
      if (terminals.stdin && await writeThroughStdin(`${line}\n`)) return true;
      if (terminals.stderr) {
        err(`${line}\n`);
        return true;
      }
      if (!terminals.stdout) return false;
      await out(`${line}\n`);
      return true;
    },
    readLine: lineReader(() => Deno.stdin.readable),
    stdin: () => Deno.stdin.readable,
    env,
    now: () => Date.now(),
    async screen() {
      const { systemScreen } = await import("./system_screen.ts");
      return systemScreen();
    },
  };
}

function env(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch {
    return undefined; // not in the list of permissions: the same as absent
  }
}

function columns(): number {
  try {
    const { columns } = Deno.consoleSize();
    return columns === 0 ? 80 : columns; // a terminal that was never given a size says 0
  } catch {
    return 80;
  }
}

/** stdin is the one descriptor that `2>&1 >file` leaves alone, and a terminal's descriptor can be written (FACTS). */
async function writeThroughStdin(text: string): Promise<boolean> {
  try {
    const { WriteStream } = await import("node:tty"); // 15 ms to load, so only where it is needed
    const stream = new WriteStream(0);
    return await new Promise((resolve) => {
      stream.on("error", () => resolve(false)); // opened for reading only: `custos … </dev/tty`
      stream.write(text, (error) => resolve(error === null || error === undefined));
    });
  } catch {
    return false;
  }
}

/** Reads lines from a byte stream; what follows a line is kept for the next call. */
export function lineReader(open: () => ReadableStream<Uint8Array>): () => Promise<string | null> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  let held: number[] = [];
  return async () => {
    reader ??= open().getReader();
    while (true) {
      const end = held.indexOf(10);
      if (end >= 0 || held.length >= MAX_LINE_BYTES) {
        const line = held.slice(0, end >= 0 ? end : MAX_LINE_BYTES);
        held = held.slice(end >= 0 ? end + 1 : MAX_LINE_BYTES);
        return decodeLine(line);
      }
      const { done, value } = await reader.read();
      if (done) {
        if (held.length === 0) return null;
        const line = held;
        held = [];
        return decodeLine(line);
      }
      held.push(...value);
    }
  };
}

function decodeLine(bytes: number[]): string {
  return new TextDecoder().decode(Uint8Array.from(bytes)).replace(/\r$/, "");
}
