import type { Command } from "../command.ts";
import { statusLine } from "../views.ts";

/** `custos withdraw`. */
export const command: Command = {
  name: "withdraw",
  usage: "REQUEST_ID",
  about: "Takes a request back, so that its card disappears from the phone.",
  options: {},
  positionals: [1, 1],
  examples: [["custos withdraw REQUEST_ID", "it is no longer needed"]],
  async run(given, { io, client, json, shown }) {
    const result = await client.call("access.withdraw", { request_id: given.positionals[0]! });
    await shown.request(result.request_id, result.fingerprint);
    if (json) await io.out(`${JSON.stringify(result)}\n`);
    else if (result.detached) {
      io.err("Somebody else waits for the same request, so it stays; you have left it.\n");
    } else await io.out(`${statusLine(result.status)}\n`);
    return 0;
  },
};
