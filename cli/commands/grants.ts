import { displaySafe } from "@custos/core/display";
import type { Command } from "../command.ts";
import { bold } from "../text.ts";
import { grantLine } from "../views.ts";

/** `custos grants`. */
export const command: Command = {
  name: "grants",
  usage: "",
  about: "Lists the grants that are live: what may be done now without asking again.",
  options: {},
  positionals: [0, 0],
  examples: [
    ["custos grants", "what is granted now"],
    ["custos revoke custos:github", "and how to end it"],
  ],
  async run(_given, { io, client, json }) {
    const result = await client.call("grants.list", {});
    if (json) await io.out(`${JSON.stringify(result)}\n`);
    else if (result.grants.length === 0) io.err("Nothing is granted now.\n");
    for (const grant of json ? [] : result.grants) {
      await io.out(
        `${bold(displaySafe(grant.handle), io.colour)}  ${displaySafe(grant.origins.join(" "))}\n` +
          `  ${grantLine(grant, io.now())}\n  ${grant.grant_id}\n`,
      );
    }
    return 0;
  },
};
