import { CustosError } from "@custos/core/errors";
import { RpcError } from "@custos/rpc/rpc_error";
import type { Command, Context } from "../command.ts";
import { OutputClosed } from "../io.ts";
import type { Screen } from "../screen.ts";
import { look, type Snapshot } from "../watch_data.ts";
import { lostLines, watchLines } from "../watch_view.ts";

/** How often the daemon is asked, in milliseconds: the countdowns have seconds. */
const EVERY_MS = 1_000;
/** And where it does not answer. */
const LOST_EVERY_MS = 2_000;

/** Ctrl-C and Ctrl-D come as keys, since the terminal is raw. */
const QUIT = new Set(["q", "Q", "\x03", "\x04"]);

/** `custos watch`. */
export const command: Command = {
  name: "watch",
  usage: "[--once]",
  about:
    "Shows what waits for the phone with its three words and the time it has left, what is granted, and what happened, " +
    "and keeps it up to date. It is your own place to compare the words: nothing that an agent prints goes there.",
  options: { once: { type: "boolean", help: "show it once and end; works without a terminal" } },
  positionals: [0, 0],
  examples: [
    ["custos watch", "in a terminal of its own; q ends it"],
    ["custos watch --once --json", "one look, for programs"],
  ],
  async run(given, context) {
    if (given.has("once")) return await once(context);
    if (context.json) throw new CustosError("bad_request", "custos watch --json needs --once.");
    const { io } = context;
    const terminal = io.terminals.stdin && io.terminals.stdout && io.env("TERM") !== "dumb";
    if (!terminal || io.screen === undefined) {
      // B109: nothing here may wait for a person who is not there
      throw new CustosError(
        "bad_request",
        "custos watch needs a terminal on stdin and stdout. Without one: custos watch --once, or --once --json.",
      );
    }
    using screen = await io.screen();
    return await watch(screen, context);
  },
};

async function once({ client, io, json }: Context): Promise<number> {
  const snapshot = await look(client, null);
  if (json) {
    await io.out(`${JSON.stringify(snapshot)}\n`);
    return 0;
  }
  // as many rows as there is to say, and no escape codes but the styles of a terminal
  const rows = 9 + 4 * snapshot.pending.length + 2 * snapshot.grants.length + snapshot.recent.length;
  const lines = watchLines(snapshot, { columns: io.columns, rows, colour: io.colour, now: io.now() });
  await io.out(lines.slice(0, -1).map((line) => `${line.trimEnd()}\n`).join("").trimEnd() + "\n");
  return 0;
}

async function watch(screen: Screen, { client, io }: Context): Promise<number> {
  let snapshot: Snapshot | null = null;
  let lost: string | null = null;
  let due_ms = -Infinity;
  for (;;) {
    if (io.now() >= due_ms) {
      const asked_ms = io.now();
      try {
        snapshot = await look(client, snapshot);
        lost = null;
      } catch (error) {
        lost = RpcError.from(error).message;
      }
      due_ms = asked_ms + (lost === null ? EVERY_MS : LOST_EVERY_MS);
    }
    const frame = { ...screen.size(), colour: io.colour, now: io.now() };
    await draw(
      screen,
      snapshot === null || lost !== null ? lostLines(lost ?? "", frame) : watchLines(snapshot, frame),
    );
    const event = await screen.wait(Math.max(50, due_ms - io.now()));
    if (event.kind === "end" || (event.kind === "key" && QUIT.has(event.key))) return 0;
  }
}

/** A terminal that is gone ends it quietly. */
async function draw(screen: Screen, lines: string[]): Promise<void> {
  try {
    await screen.draw(lines);
  } catch {
    throw new OutputClosed();
  }
}
