/** One run of `custos`: finds the command, reads its arguments, runs it, reports what went wrong. */

import { CustosError } from "@custos/core/errors";
import { displayLine } from "@custos/core/display";
import type { Client } from "@custos/rpc/client";
import { readArgs } from "./args.ts";
import type { Context } from "./command.ts";
import { commandEntry } from "./commands.ts";
import type { Io } from "./io.ts";
import { report } from "./report.ts";
import { Shown } from "./shown.ts";
import { socketPath } from "./socket.ts";

/** Makes the client of a socket (tests give their own). */
export type Connect = (socket: string) => Client | Promise<Client>;

/** Runs `custos` with these arguments. Returns the exit code; never throws. */
export async function run(args: readonly string[], io: Io, connect: Connect): Promise<number> {
  const shown = new Shown(io);
  let json = args.slice(0, endOfOptions(args)).includes("--json");
  try {
    const { name, rest } = splitArgs(args);
    if (name === null) return await withoutCommand(rest, io);
    const entry = commandEntry(name);
    if (entry === null) {
      throw new CustosError(
        "bad_request",
        `There is no command ${displayLine(name, 40)}. See: custos --help`,
      );
    }
    const { command } = await entry.load();
    const given = readArgs(command, rest);
    if (given.has("help")) {
      const { helpOf } = await import("./help.ts");
      await io.out(helpOf(command));
      return 0;
    }
    json = given.has("json");
    const socket = socketPath(given.one("socket"), io.env);
    using client = await connect(socket);
    const agent = (given.one("agent") ?? io.env("CUSTOS_AGENT") ?? "").trim();
    const context: Context = { io, client, socket, agent: { name: agent || null }, json, shown };
    return await command.run(given, context);
  } catch (error) {
    return await report(error, io, json, shown).catch(() => 5);
  }
}

async function withoutCommand(rest: readonly string[], io: Io): Promise<number> {
  const { overview } = await import("./help.ts");
  if (rest.includes("--version")) {
    const { default: config } = await import("./deno.json", { with: { type: "json" } });
    await io.out(`custos ${config.version}\n`);
    return 0;
  }
  if (rest.includes("--help") || rest.includes("-h")) {
    await io.out(overview());
    return 0;
  }
  if (rest.length > 0) {
    throw new CustosError("bad_request", "A command's name comes first. See: custos --help");
  }
  io.err(overview());
  return 2;
}

/** `custos help X` is `custos X --help`; common options may stand before the command. */
function splitArgs(args: readonly string[]): { name: string | null; rest: string[] } {
  let at = 0;
  while (at < args.length && args[at]!.startsWith("-")) {
    at += args[at] === "--socket" || args[at] === "--agent" ? 2 : 1;
  }
  const before = args.slice(0, at);
  const name = args[at];
  if (name === undefined) return { name: null, rest: before };
  if (name === "help") {
    const topic = args[at + 1];
    return topic === undefined ? { name: null, rest: ["--help"] } : { name: topic, rest: ["--help"] };
  }
  return { name, rest: [...before, ...args.slice(at + 1)] };
}

function endOfOptions(args: readonly string[]): number {
  const end = args.indexOf("--");
  return end < 0 ? args.length : end;
}
