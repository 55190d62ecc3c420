/** Processes that the bench started: each is ended by its own id. */

import { launchProgram } from "../_tools/launch.ts";

/** Waits until something listens on a loopback port. Throws where nothing does within 15 s. */
export async function listening(port: number, what: string): Promise<void> {
  const end = performance.now() + 15_000;
  for (;;) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return;
    } catch (error) {
      if (performance.now() > end) throw new Error(`${what} does not listen on ${port}.`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** A loopback port that is free now. */
export function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}

/** A program that is ended with its scope. */
export class Program implements AsyncDisposable {
  private constructor(readonly child: Deno.ChildProcess) {}

  /** Starts a program that is quiet, or returns `null` where it is not installed. */
  static start(name: string, args: readonly string[]): Program | null {
    const child = launchProgram(name, { args, stdout: "null", stderr: "null" });
    return child === null ? null : new Program(child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.child.kill("SIGTERM");
    } catch {
      // it has ended already
    }
    await this.child.status;
  }
}

/**
 * What a program wrote, or `null` where it is not installed. Only stdout, unless `all`, which also takes any exit code: programs say
 * their versions where and how they like. Throws where it fails.
 */
export async function outputOf(name: string, args: readonly string[], all = false): Promise<string | null> {
  const child = launchProgram(name, { args, stdout: "piped", stderr: "piped" });
  if (child === null) return null;
  const { code, stdout, stderr } = await child.output();
  const text = new TextDecoder();
  if (all) return text.decode(stdout) + text.decode(stderr);
  if (code !== 0) throw new Error(`${name} ended with code ${code}: ${text.decode(stderr)}`);
  return text.decode(stdout);
}
