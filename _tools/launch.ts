/**
 * Starts processes: the only module of the repository that uses `Deno.Command`. Every part of custos gets exactly the
 * flags of `permissions.ts`, a clean environment, and this same Deno.
 *
 * `launch("daemon", values, {args})` starts a part; `runDeno` and `launchProgram` serve the house tools, tests and bench.
 * It needs `--allow-run=deno`. Whoever may run Deno may do everything, so this module and its callers are what a reviewer
 * reads to know what the tasks can start.
 */
import { fileURLToPath } from "node:url";
import { flagsOf, type PartName, PARTS, type Values } from "./permissions.ts";

/** The top of the checkout, without a slash at its end. */
export const ROOT: string = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

/** How a process is connected. What is not named is closed (stdin) or inherited (stdout, stderr). */
export interface LaunchOptions {
  readonly args?: readonly string[];
  /** Added to the clean environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: "piped" | "inherit" | "null";
  readonly stdout?: "piped" | "inherit" | "null";
  readonly stderr?: "piped" | "inherit" | "null";
  readonly cwd?: string;
  /** File to which the runtime writes every permission that is used, one JSON object a line. Each start empties it. */
  readonly audit_file?: string;
  /** Another checkout, for tests of the tools. */
  readonly root?: string;
}

/** What Deno itself needs to find its caches, and nothing that changes what a program does. */
const LOADER_ENV = ["HOME", "DENO_DIR", "XDG_CACHE_HOME"] as const;

/**
 * This Deno, as the run permission spells it: the exact path where that is granted, else the name (`--allow-run=deno`
 * grants what the name resolves to, which may be a link to the same program).
 */
function denoCommand(): string {
  const exact = Deno.execPath();
  const status = Deno.permissions.querySync({ name: "run", command: exact });
  return status.state === "granted" ? exact : "deno";
}

function inherited(names: readonly string[]): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of names) {
    const value = Deno.env.get(name);
    if (value !== undefined) out[name] = value;
  }
  return out;
}

function cleanEnv(names: readonly string[], options: LaunchOptions): Record<string, string> {
  const audit: Record<string, string> = options.audit_file === undefined
    ? {}
    : { DENO_AUDIT_PERMISSIONS: options.audit_file };
  return { ...inherited([...LOADER_ENV, ...names]), DENO_NO_UPDATE_CHECK: "1", ...options.env, ...audit };
}

function streams(options: LaunchOptions): Deno.CommandOptions {
  return {
    stdin: options.stdin ?? "null",
    stdout: options.stdout ?? "inherit",
    stderr: options.stderr ?? "inherit",
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  };
}

/** The arguments after `deno` with which a part is started: to run it, or to show it. */
export function commandLine(
  part: PartName,
  values: Values,
  args: readonly string[] = [],
  root = ROOT,
): string[] {
  return ["run", "--frozen", ...flagsOf(part, values), `${root}/${PARTS[part].module}`, ...args];
}

/**
 * Starts a part under its declared flags with a clean environment.
 * @throws {RangeError} where a value cannot be written as a flag.
 */
export function launch(part: PartName, values: Values, options: LaunchOptions = {}): Deno.ChildProcess {
  return new Deno.Command(denoCommand(), {
    args: commandLine(part, values, options.args, options.root),
    clearEnv: true,
    env: cleanEnv(PARTS[part].passes, options),
    ...streams(options),
  }).spawn();
}

/**
 * Runs Deno's own commands (check, doc, info, bundle, publish, test) for the house tools, in the caller's environment:
 * these read code and may need to download it.
 */
export function runDeno(
  args: readonly string[],
  options: Omit<LaunchOptions, "audit_file"> = {},
): Deno.ChildProcess {
  return new Deno.Command(denoCommand(), {
    args: [...args],
    env: { DENO_NO_UPDATE_CHECK: "1", ...options.env },
    ...streams(options),
    cwd: options.cwd ?? ROOT,
  }).spawn();
}

/** What a finished command said. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a Deno command to its end and returns what it wrote. */
export async function denoOutput(
  args: readonly string[],
  options: Omit<LaunchOptions, "audit_file" | "stdout" | "stderr"> = {},
): Promise<Finished> {
  const child = runDeno(args, { ...options, stdout: "piped", stderr: "piped" });
  const { code, stdout, stderr } = await child.output();
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}

/**
 * Starts a program that is not Deno (`nats-server`, `nginx`), for tests and the bench. The caller's run permission must
 * name it. Returns null where it is not installed.
 */
export function launchProgram(
  name: string,
  options: Omit<LaunchOptions, "audit_file" | "root"> = {},
): Deno.ChildProcess | null {
  try {
    return new Deno.Command(name, {
      args: [...(options.args ?? [])],
      clearEnv: true,
      env: { ...inherited(["HOME", "PATH"]), ...options.env },
      ...streams(options),
    }).spawn();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable) return null;
    throw error;
  }
}

/**
 * Passes stop signals on to a child and waits for it. Returns its exit code. An interrupt from the keyboard reaches the
 * child by itself, so it is only kept from ending this process first.
 */
export async function follow(child: Deno.ChildProcess): Promise<number> {
  const pass = (signal: Deno.Signal) => () => {
    try {
      child.kill(signal);
    } catch {
      // It has ended already; its status says so.
    }
  };
  const handlers: [Deno.Signal, () => void][] = [
    ["SIGINT", () => {}],
    ["SIGTERM", pass("SIGTERM")],
    ["SIGHUP", pass("SIGHUP")],
    // It opens the runtime's inspector: the child ends, and this process with it (DESIGN §3).
    ["SIGUSR1", pass("SIGTERM")],
  ];
  for (const [signal, handler] of handlers) Deno.addSignalListener(signal, handler);
  const { code } = await child.status;
  for (const [signal, handler] of handlers) Deno.removeSignalListener(signal, handler);
  return code;
}
