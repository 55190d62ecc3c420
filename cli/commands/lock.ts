import type { Command } from "../command.ts";
import { ended } from "../views.ts";

/** `custos lock`. */
export const command: Command = {
  name: "lock",
  usage: "",
  about: "Ends every grant and every process that holds a secret, at once. Nothing is deleted.",
  options: {},
  positionals: [0, 0],
  examples: [["custos lock", "something is wrong: stop everything"]],
  async run(_given, { io, client, json }) {
    const result = await client.call("daemon.lock", {});
    if (json) await io.out(`${JSON.stringify(result)}\n`);
    else io.err(`Locked. ${ended(result.revoked)} No secret is open in memory.\n`);
    return 0;
  },
};
