/** {@link Screen} of a real terminal, by hand: ECMA-48 sequences and raw input, which need no permission. */

import type { Screen, ScreenEvent, Size } from "./screen.ts";

/** Alternate screen, no cursor, no wrapping: a line that is too long must not push the others down. */
const ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[2J";
const LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/** Takes the terminal of stdin and stdout. The caller has made sure that both are one. */
export function systemScreen(): Screen {
  const encoder = new TextEncoder();
  const waiting = new Set<(event: ScreenEvent) => void>();
  const events: ScreenEvent[] = [];
  let open = true;

  function tell(event: ScreenEvent): void {
    const [first] = waiting;
    if (first === undefined) events.push(event);
    else first(event);
  }

  function close(): void {
    if (!open) return;
    open = false;
    globalThis.removeEventListener("unload", close);
    for (const [signal, handler] of handlers) Deno.removeSignalListener(signal, handler);
    try {
      Deno.stdin.setRaw(false);
      Deno.stdout.writeSync(encoder.encode(LEAVE));
    } catch {
      // the terminal is gone, and with it what there was to restore
    }
  }

  const end = () => tell({ kind: "end" });
  const handlers: [Deno.Signal, () => void][] = [
    ["SIGWINCH", () => tell({ kind: "resized" })],
    ["SIGTERM", end],
    ["SIGHUP", end],
    ["SIGINT", end],
  ];
  Deno.stdin.setRaw(true);
  // however this process ends, the terminal is given back as it was
  globalThis.addEventListener("unload", close);
  for (const [signal, handler] of handlers) Deno.addSignalListener(signal, handler);
  Deno.stdout.writeSync(encoder.encode(ENTER));
  void readKeys(tell);

  return {
    size,
    async draw(lines) {
      // a full row is not cleared after it was written: without wrapping the cursor still stands on its last column
      const rows = lines.map((line) => line === "" ? "\x1b[K" : line);
      let rest = encoder.encode(`\x1b[H${rows.join("\r\n")}`);
      while (rest.length > 0) rest = rest.subarray(await Deno.stdout.write(rest));
    },
    wait(ms) {
      const next = events.shift();
      if (next !== undefined) return Promise.resolve(next);
      return new Promise((resolve) => {
        const done = (event: ScreenEvent) => {
          clearTimeout(timer);
          waiting.delete(done);
          resolve(event);
        };
        const timer = setTimeout(() => done({ kind: "time" }), ms);
        waiting.add(done);
      });
    },
    [Symbol.dispose]: close,
  };
}

function size(): Size {
  try {
    const { columns, rows } = Deno.consoleSize();
    if (columns > 0 && rows > 0) return { columns, rows };
  } catch {
    // no size is known; the smallest that is common
  }
  return { columns: 80, rows: 24 };
}

/** Single keys; a longer sequence (an arrow, a paste) is one event, and none of them means anything here. */
async function readKeys(tell: (event: ScreenEvent) => void): Promise<void> {
  const buffer = new Uint8Array(256);
  try {
    for (;;) {
      const count = await Deno.stdin.read(buffer);
      if (count === null) break;
      tell({ kind: "key", key: new TextDecoder().decode(buffer.subarray(0, count)) });
    }
  } catch {
    // the terminal is gone
  }
  tell({ kind: "end" });
}
