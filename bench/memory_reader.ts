/**
 * Reads `/proc` for the bench: the runtime gives that to programs with every permission only. Started by `memory.ts`, it answers each
 * line on stdin, which is the name of a file below `/proc`, with that file's text as one JSON line, or `null`. A line `peak <pid>` is
 * answered when that process has ended, with the most memory that it held, in kB.
 */

function read(path: string): string | null {
  try {
    return Deno.readTextFileSync(`/proc/${path}`);
  } catch {
    return null;
  }
}

async function peakOf(pid: string): Promise<number> {
  let peak = 0;
  for (;;) {
    const field = /^VmHWM:\s+(\d+) kB/m.exec(read(`${pid}/status`) ?? "")?.[1];
    if (field === undefined) return peak;
    peak = Number(field);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

let text = "";
for await (const part of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (text + part).split("\n");
  text = lines.pop()!;
  for (const line of lines) {
    const answer = line.startsWith("peak ") ? await peakOf(line.slice(5)) : read(line);
    Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(answer) + "\n"));
  }
}
