/** Waits for the one JSON line with which a part says that it listens. */

/** How long a part may take to listen. Only a part that hangs meets it. */
export const READY_TIMEOUT_MS = 60_000;

/** The ready line of a part: `{"ready":true, …}`. */
export type Ready = Readonly<Record<string, unknown>> & { readonly ready: true };

/**
 * Reads stdout (piped) until the ready line, then goes on reading and drops what follows, so that the child never waits on
 * a full pipe. Other lines before it are passed to `other`.
 * @throws {Error} where the child ends or the time is over first. The child is not ended here: its owner does that.
 */
export async function readyLine(
  child: Deno.ChildProcess,
  name: string,
  options: { timeout_ms?: number; other?: (line: string) => void } = {},
): Promise<Ready> {
  const timeout_ms = options.timeout_ms ?? READY_TIMEOUT_MS;
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The ${name} was not ready after ${timeout_ms} ms.`)),
      timeout_ms,
    );
  });
  try {
    let text = "";
    while (true) {
      const { value, done } = await Promise.race([reader.read(), late]);
      if (done) {
        const { code } = await child.status;
        throw new Error(`The ${name} ended with code ${code} before it was ready.`);
      }
      text += value;
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const [at, line] of lines.entries()) {
        const ready = parseReady(line);
        if (ready === null) {
          options.other?.(line);
          continue;
        }
        for (const rest of lines.slice(at + 1)) options.other?.(rest);
        void drain(reader);
        return ready;
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

function parseReady(line: string): Ready | null {
  if (!line.startsWith("{")) return null;
  try {
    const value = JSON.parse(line);
    return value !== null && typeof value === "object" && value.ready === true ? value as Ready : null;
  } catch {
    return null;
  }
}

async function drain(reader: ReadableStreamDefaultReader<string>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The child is gone, and with it the pipe.
  }
}
