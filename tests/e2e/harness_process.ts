/** Processes of the end-to-end tests: each is ended by its own id, and all that it wrote is kept. */

import { launch, type LaunchOptions } from "@custos/tools/launch";
import type { PartName, Values } from "@custos/tools/permissions";
import { readyLine } from "@custos/tools/ready";

/** A process that has ended. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** How a command is run. */
export interface RunOptions {
  env?: Record<string, string>;
  audit_file?: string;
  /** Written to stdin, which is closed then; without it stdin is closed from the start. */
  stdin?: string;
}

/** Runs a part under its declared flags to its end. */
export async function run(
  part: PartName,
  values: Values,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ran> {
  const { stdin, ...rest } = options;
  const child = launch(part, values, {
    ...rest,
    args,
    stdin: stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  });
  if (stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(stdin)).catch(() => {});
    await writer.close().catch(() => {});
  }
  return await ended(child);
}

/** What a process with piped output wrote, once it has ended. */
export async function ended(child: Deno.ChildProcess): Promise<Ran> {
  const { code, stdout, stderr } = await child.output();
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}

/** Runs `custos` as an agent with this name. */
export function custos(
  values: Values,
  agent: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ran> {
  const env = { CUSTOS_SOCKET: values.socket, CUSTOS_AGENT: agent, NO_COLOR: "1", ...options.env };
  return run("cli", values, args, { ...options, env });
}

/** A part that listens: relay or daemon. */
export class Server {
  readonly #stderr: Promise<string>;
  #over = false;

  private constructor(readonly child: Deno.ChildProcess, readonly ready: Record<string, unknown>) {
    this.#stderr = new Response(child.stderr).text();
    child.status.then(() => this.#over = true);
  }

  /** Starts a part and waits for its ready line. A part that does not get there is ended, and its words are in the error. */
  static async start(part: PartName, values: Values, options: LaunchOptions): Promise<Server> {
    const child = launch(part, values, { ...options, stdout: "piped", stderr: "piped" });
    return await Server.of(part, child);
  }

  /** The same for a child that was started with piped output. */
  static async of(name: string, child: Deno.ChildProcess): Promise<Server> {
    try {
      return new Server(child, await readyLine(child, name));
    } catch (error) {
      end(child, "SIGKILL");
      const words = await new Response(child.stderr).text();
      throw new Error(`${error instanceof Error ? error.message : error}\n${words}`);
    }
  }

  /** Ends it by its id. Returns exit code, signal and all that it wrote to stderr. */
  async stop(signal: Deno.Signal = "SIGTERM"): Promise<Deno.CommandStatus & { stderr: string }> {
    if (!this.#over) end(this.child, signal);
    const status = await this.child.status;
    return { ...status, stderr: await this.#stderr };
  }
}

function end(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // it has ended already
  }
}
