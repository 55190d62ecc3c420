import { CustosError } from "@custos/core/errors";
import { isId } from "@custos/core/ids";
import type { GrantsRevokeParams } from "@custos/rpc/inventory_schemas";
import { toHandle } from "../args.ts";
import type { Command, Given } from "../command.ts";
import { ended } from "../views.ts";

/** `custos revoke`. */
export const command: Command = {
  name: "revoke",
  usage: "GRANT_ID | HANDLE | --all",
  about: "Ends a grant, or every grant of a secret, at once. Requests in flight are aborted.",
  options: { all: { type: "boolean", help: "end every grant" } },
  positionals: [0, 1],
  examples: [
    ["custos revoke custos:github", "end all that is granted for one secret"],
    ["custos revoke --all", "end everything"],
  ],
  async run(given, { io, client, json }) {
    const result = await client.call("grants.revoke", target(given));
    if (json) await io.out(`${JSON.stringify(result)}\n`);
    else io.err(`${ended(result.revoked)}\n`);
    return 0;
  },
};

function target(given: Given): GrantsRevokeParams {
  const [what] = given.positionals;
  if (given.has("all") !== (what === undefined)) {
    throw new CustosError(
      "bad_request",
      "Name one grant or one secret, or give --all. See: custos revoke --help",
    );
  }
  if (what === undefined) return { all: true };
  return isId(what) ? { grant_id: what } : { handle: toHandle(what) };
}
