import { displaySafe } from "@custos/core/display";
import { CustosError } from "@custos/core/errors";
import type { PairBeginResult, PairState, PairStatusResult } from "@custos/rpc/pair_schemas";
import type { Command, Context } from "../command.ts";
import { bold, duration } from "../text.ts";

/** How long one `pair.status` waits. */
const STEP_MS = 25_000;
/** Steps 6 and 7 of a pairing may take 15 minutes (DESIGN §7). */
const REGISTER_MS = 900_000;

/** `custos pair`. */
export const command: Command = {
  name: "pair",
  usage: "",
  about:
    "Pairs a phone: shows a code to scan, asks for the first of the three words that the phone shows, and waits " +
    "until the phone has made its passkey. The word comes from the terminal or, where stdin is none, from its first line.",
  options: {},
  positionals: [0, 0],
  hint: "pair takes no arguments. It asks for the word when the phone shows it.",
  examples: [["custos pair", "pair a phone"]],
  async run(_given, context) {
    const typed = await wordSource(context);
    const begun = await context.client.call("pair.begin", {});
    await invite(begun, context);
    const deadline = begun.expires_ms + REGISTER_MS;

    let status = await until(begun.pairing_id, ["waiting"], deadline, context);
    while (status.state === "confirm") {
      status = await confirm(begun.pairing_id, typed, status, deadline, context);
    }
    if (status.state === "registering") {
      context.io.err("The word is right. The phone now makes its passkey and its recovery sheet.\n");
      status = await until(begun.pairing_id, ["registering"], deadline, context);
    }
    if (status.state !== "done") throw failed(status);
    const name = status.device_name ?? "The phone";
    context.io.err(`${displaySafe(name)} is paired.\n`);
    if (context.json) await context.io.out(`${JSON.stringify(status)}\n`);
    return 0;
  },
};

type WordSource = (prompt: string) => Promise<string | null>;

/**
 * Where the word will come from. Without a terminal, stdin is read from the start, so that a closed one ends the command
 * before a pairing is begun, and not in two minutes (B109).
 */
async function wordSource({ io }: Context): Promise<WordSource> {
  if (io.terminals.stdin) {
    return async (prompt) => {
      if (!await io.tty(prompt)) io.err(`${prompt}\n`);
      return await io.readLine();
    };
  }
  let first: Promise<string | null> | null = io.readLine();
  const { promise: later, resolve } = Promise.withResolvers<"later">();
  const timer = setTimeout(() => resolve("later"), 200);
  const early = await Promise.race([first, later]);
  clearTimeout(timer);
  if (early === null) throw noWord();
  return (prompt) => {
    io.err(`${prompt}\n`);
    const line = first ?? io.readLine();
    first = null;
    return line;
  };
}

/** Shows the code and the link. The link is also the data of this command: a line on stdout. */
async function invite(begun: PairBeginResult, { io, json }: Context): Promise<void> {
  if (json) return await io.out(`${JSON.stringify(begun)}\n`);
  if (io.colour) {
    const { qrLines } = await import("../qr_terminal.ts");
    const lines = qrLines(begun.qr_text, Math.min(io.columns, 80));
    io.err(lines === null ? "" : `${lines.join("\n")}\n`);
  }
  io.err(
    `Open this link on the phone${io.colour ? ", or scan the code" : ""}. It works once, for ` +
      `${duration(begun.expires_ms - io.now())}.\n`,
  );
  await io.out(`${displaySafe(begun.url)}\n`);
}

/** Waits while the pairing is in one of these states. */
async function until(
  pairing_id: string,
  states: PairState[],
  deadline: number,
  { client, io }: Context,
): Promise<PairStatusResult> {
  while (true) {
    const status = await client.call("pair.status", { pairing_id, wait_ms: STEP_MS });
    if (!states.includes(status.state)) return status;
    if (io.now() > deadline) {
      throw new CustosError("pairing_refused", "The pairing was not finished in time.");
    }
  }
}

/** Asks for the word and hands it in. A wrong word may be tried again for as long as the daemon allows it. */
async function confirm(
  pairing_id: string,
  typed: WordSource,
  seen: PairStatusResult,
  deadline: number,
  context: Context,
): Promise<PairStatusResult> {
  const { client, io } = context;
  const name = bold(displaySafe(seen.device_name ?? "The phone"), io.colour);
  const word = (await typed(`${name} shows three words. Type the first:`))?.trim().toLowerCase();
  if (word === undefined) throw noWord();
  if (word === "") return seen;
  try {
    await client.call("pair.confirm", { pairing_id, word });
  } catch (error) {
    const status = await client.call("pair.status", { pairing_id, wait_ms: 0 }).catch(() => null);
    const again = error instanceof CustosError && error.kind === "pairing_refused" &&
      status?.state === "confirm";
    if (!again) throw error;
    io.err("That is not the first word. Look again; if the words differ, stop with Ctrl-C.\n");
    return status;
  }
  return await until(pairing_id, ["confirm"], deadline, context);
}

function failed(status: PairStatusResult): CustosError {
  const reason = status.reason ?? "It was ended.";
  return new CustosError(
    "pairing_refused",
    `The phone was not paired: ${reason} Begin again with: custos pair`,
  );
}

function noWord(): CustosError {
  return new CustosError(
    "bad_request",
    "There is nobody to type the word: stdin is closed. Run custos pair in a terminal, or write the word to its stdin.",
  );
}
