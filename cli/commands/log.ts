import { CustosError } from "@custos/core/errors";
import { fromBase64url } from "@custos/core/bytes";
import { MAX_LOG_ENTRIES } from "@custos/rpc/limits";
import { wholeNumber } from "../args.ts";
import type { Command, Context, Given } from "../command.ts";

/** `custos log` and `custos log verify`. */
export const command: Command = {
  name: "log",
  usage: "[verify] [options]",
  about:
    "Shows what happened, the newest last. `log verify` reads every entry, builds the Merkle tree again and compares " +
    "it with the checkpoint that the daemon signed.",
  options: {
    limit: { type: "string", value: "N", help: "how many entries, 1 to 1000 (20)" },
    after: { type: "string", value: "N", help: "from the entry with this number on" },
  },
  positionals: [0, 1],
  examples: [
    ["custos log", "the last 20 entries"],
    ["custos log --after 0 --limit 1000 --json", "from the beginning, for programs"],
    ["custos log verify", "is the log complete and unchanged?"],
  ],
  async run(given, context) {
    const [what] = given.positionals;
    if (what === undefined) return await show(given, context);
    if (what !== "verify") throw new CustosError("bad_request", "custos log takes no argument but verify.");
    const { verify } = await import("../log_verify.ts");
    return await verify(context);
  },
};

async function show(given: Given, context: Context): Promise<number> {
  const { client, io, json } = context;
  const limit = wholeNumber(given.one("limit") ?? "20", "--limit", 1, MAX_LOG_ENTRIES);
  const from = given.one("after");
  const size = from === undefined ? (await client.call("log.read", { limit: 1 })).size : 0;
  const after = from === undefined ? Math.max(0, size - limit) : wholeNumber(from, "--after", 0, 2 ** 50);
  const result = await client.call("log.read", { after, limit });
  const { readLeaf } = await import("@custos/core/audit");
  const { logLine } = await import("../log_text.ts");
  const entries = result.entries.map(({ index, leaf }) => {
    try {
      return { index, leaf: readLeaf(fromBase64url(leaf)!) };
    } catch {
      throw new CustosError(
        "internal",
        `Entry ${index} of the log cannot be read. Check it all: custos log verify`,
      );
    }
  });
  if (json) {
    const plain = entries.map(({ index, leaf }) => ({ index, ...leaf }));
    await io.out(`${JSON.stringify({ entries: plain, size: result.size })}\n`);
  } else {
    for (const { index, leaf } of entries) await io.out(logLine(index, leaf, io.columns, io.colour));
  }
  return 0;
}
