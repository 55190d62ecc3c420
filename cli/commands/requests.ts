import { CustosError } from "@custos/core/errors";
import type { RequestStatus } from "@custos/rpc/common";
import type { Command } from "../command.ts";
import { requestLines } from "../views.ts";

const STATUSES: readonly string[] = ["pending", "granted", "denied", "expired", "withdrawn", "delivered"];

/** `custos requests`. */
export const command: Command = {
  name: "requests",
  usage: "[--status S]",
  about: "Lists what was asked, with the three words of each request, and what became of it.",
  options: { status: { type: "string", value: "S", help: `only ${STATUSES.join(", ")}` } },
  positionals: [0, 0],
  examples: [
    ["custos requests --status pending", "what waits for the phone"],
    ["custos requests --json", "everything, for programs"],
  ],
  async run(given, { io, client, json }) {
    const status = given.one("status");
    if (status !== undefined && !STATUSES.includes(status)) {
      throw new CustosError("bad_request", `--status takes one of ${STATUSES.join(", ")}.`);
    }
    const result = await client.call("requests.list", { status: status as RequestStatus | undefined });
    if (json) await io.out(`${JSON.stringify(result)}\n`);
    else if (result.requests.length === 0) io.err("There is no such request.\n");
    for (const [at, request] of json ? [] : result.requests.entries()) {
      await io.out((at > 0 ? "\n" : "") + requestLines(request, io.now(), io.columns, io.colour));
    }
    return 0;
  },
};
