/** Memory and CPU time of processes, as the kernel says them (Linux only). */

import { runDeno } from "../_tools/launch.ts";

/** What is said in place of figures where the kernel cannot be asked. */
export const NO_MEMORY = "memory is read from /proc, which this system does not have";

/** A line to the process that may read `/proc`. One question at a time. */
export class Kernel implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<string>;

  constructor() {
    const module = new URL("memory_reader.ts", import.meta.url).pathname;
    this.#child = runDeno(["run", "-A", module], { stdin: "piped", stdout: "piped" });
    this.#writer = this.#child.stdin.getWriter();
    this.#reader = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** A file below `/proc`, or `null`. */
  async file(name: string): Promise<string | null> {
    return await this.#ask(name) as string | null;
  }

  /** Bytes that a process holds in memory now, or `null`. */
  async held(pid: number): Promise<number | null> {
    const field = /^VmRSS:\s+(\d+) kB/m.exec(await this.file(`${pid}/status`) ?? "")?.[1];
    return field === undefined ? null : Number(field) * 1024;
  }

  /** Microseconds of CPU time that a process has used in all its threads, or `null`. The kernel counts in steps of 10 ms. */
  async cpu(pid: number): Promise<number | null> {
    const fields = (await this.file(`${pid}/stat`))?.split(") ")[1]?.split(" ");
    return fields === undefined ? null : (Number(fields[11]) + Number(fields[12])) * 10_000;
  }

  /** The most bytes that a process held, once it has ended; 0 where it cannot be told. */
  async peak(pid: number): Promise<number> {
    return await this.#ask(`peak ${pid}`) as number * 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close();
    await this.#reader.cancel();
    await this.#child.status;
  }

  async #ask(line: string): Promise<unknown> {
    await this.#writer.write(new TextEncoder().encode(line + "\n"));
    let text = "";
    while (!text.endsWith("\n")) {
      const { value, done } = await this.#reader.read();
      if (done) throw new Error("The process that reads /proc has ended.");
      text += value;
    }
    return JSON.parse(text);
  }
}
