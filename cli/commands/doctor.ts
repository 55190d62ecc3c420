import type { Command, Context } from "../command.ts";
import { type Check, examine, NOT_SEEN, type Self } from "../doctor_checks.ts";
import { bold, count, faint } from "../text.ts";

/** `custos doctor`. */
export const command: Command = {
  name: "doctor",
  usage: "",
  about:
    "Looks for what is wrong and says what to do: socket, daemon, versions, relay, phones, clock. It sees what the " +
    "daemon's socket shows and no more. Exit code 0: no problem; 1: at least one.",
  options: {},
  positionals: [0, 0],
  examples: [
    ["custos doctor", "something does not work: what is it?"],
    ["custos doctor --json", "the same for programs"],
  ],
  async run(_given, context) {
    const checks = await examine(context.client, await self(context));
    const problems = checks.filter(({ level }) => level === "problem").length;
    const { io, json } = context;
    if (json) await io.out(`${JSON.stringify({ ok: problems === 0, checks, not_seen: NOT_SEEN })}\n`);
    else await io.out(text(checks, problems, io.colour));
    return problems === 0 ? 0 : 1;
  },
};

async function self({ io, socket }: Context): Promise<Self> {
  const { default: config } = await import("../deno.json", { with: { type: "json" } });
  return { socket, version: config.version, deno: Deno.version.deno, now: io.now(), file: fileAt(socket) };
}

function fileAt(path: string): Self["file"] {
  try {
    return Deno.lstatSync(path).isSocket ? "socket" : "other";
  } catch (error) {
    return error instanceof Deno.errors.NotCapable ? "unknown" : null;
  }
}

const MARKS: Readonly<Record<Check["level"], string>> = { ok: "ok", problem: "PROBLEM", note: "note" };

function text(checks: readonly Check[], problems: number, colour: boolean): string {
  const lines = checks.map(({ name, level, says, do: advice }) => {
    const mark = MARKS[level].padEnd(8);
    const first = `${level === "problem" ? bold(mark, colour) : mark}${name.padEnd(9)} ${says}\n`;
    return advice === undefined ? first : `${first}${" ".repeat(18)}${advice}\n`;
  });
  const end = problems === 0 ? "No problem was found." : `${count(problems, "problem")} found.`;
  const rest = NOT_SEEN.map((line) => `  ${faint(line, colour)}\n`).join("");
  return `${lines.join("")}\n${bold(end, colour)}\nNot seen from here:\n${rest}`;
}
