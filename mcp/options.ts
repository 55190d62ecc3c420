/** What the entry point reads from its arguments and its environment. No secret is ever among them. */

import { CustosError } from "@custos/core/errors";
import { visible } from "./fields.ts";

/** What `main.ts` needs to start. */
export interface Options {
  /** Path of the daemon's socket. */
  socket: string;
  /** The name the agent goes by; `null` where none was given. */
  agent: string | null;
  /** Only show the help. */
  help: boolean;
}

/** Reads one variable of the environment. */
export type Env = (name: string) => string | undefined;

/** What `--help` says. */
export const HELP = `custos-mcp: an MCP server on standard input and output.

An MCP client starts it. It holds no secret: it passes requests to the custos daemon of this machine.

  --agent NAME    the name this agent goes by, shown on the phone (or CUSTOS_AGENT)
  --socket PATH   the daemon's socket (or CUSTOS_SOCKET)
  --help          this text

Without --socket and CUSTOS_SOCKET it is $CUSTOS_STATE/run/custos.sock, $XDG_RUNTIME_DIR/custos/custos.sock, or
\${XDG_STATE_HOME:-~/.local/state}/custos/run/custos.sock, by the first variable that is set.
`;

/** Reads the arguments. Throws `bad_request` on one it does not know: a misspelt option must not be dropped. */
export function readOptions(args: readonly string[], env: Env): Options {
  const given: { agent?: string; socket?: string } = {};
  for (let i = 0; i < args.length; i++) {
    const [name, inline] = split(args[i]!);
    if (name === "--help" || name === "-h") return { socket: "", agent: null, help: true };
    if (name !== "--agent" && name !== "--socket") fail(`There is no option ${JSON.stringify(name)}.`);
    const value = inline ?? args[++i];
    if (value === undefined) fail(`${name} needs a value.`);
    given[name === "--agent" ? "agent" : "socket"] = value;
  }
  const agent = given.agent ?? nonEmpty(env("CUSTOS_AGENT")) ?? null;
  if (agent !== null && (!visible(agent) || agent.length > 64)) {
    fail("The name of an agent has 1 to 64 characters, not only blanks.");
  }
  return { socket: given.socket ?? socketPath(env), agent, help: false };
}

/**
 * Where the daemon's socket is, by the rule that the daemon itself follows: `CUSTOS_SOCKET`; beside a state folder that
 * was named, since two folders are two daemons (B191); the runtime folder; the default state folder. Throws
 * `bad_request` where there is none.
 */
export function socketPath(env: Env): string {
  const named = nonEmpty(env("CUSTOS_SOCKET"));
  if (named !== undefined) return named;
  const own = nonEmpty(env("CUSTOS_STATE"));
  if (own !== undefined) return `${own}/run/custos.sock`;
  const runtime = absolute(env("XDG_RUNTIME_DIR"));
  if (runtime !== undefined) return `${runtime}/custos/custos.sock`;
  const home = absolute(env("HOME"));
  const state = absolute(env("XDG_STATE_HOME")) ?? (home === undefined ? undefined : `${home}/.local/state`);
  if (state === undefined) {
    fail("Neither CUSTOS_SOCKET nor HOME is set, so the daemon's socket cannot be found.");
  }
  return `${state}/custos/run/custos.sock`;
}

function split(argument: string): [string, string | undefined] {
  const at = argument.indexOf("=");
  return argument.startsWith("--") && at > 0
    ? [argument.slice(0, at), argument.slice(at + 1)]
    : [argument, undefined];
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

/** A path of the XDG Base Directory Specification: one that is empty or relative counts as unset. */
function absolute(value: string | undefined): string | undefined {
  return value?.startsWith("/") ? value : undefined;
}

function fail(why: string): never {
  throw new CustosError("bad_request", `${why} See --help.`);
}
