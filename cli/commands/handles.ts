import type { Command } from "../command.ts";
import { handleLines } from "../views.ts";

/** `custos handles`. */
export const command: Command = {
  name: "handles",
  usage: "",
  about:
    "Lists the secrets that can be used: where each may go, how, and what is granted now. Never a value.",
  options: {},
  positionals: [0, 0],
  examples: [
    ["custos handles", "what can be used"],
    ["custos handles --json", "the same for programs"],
  ],
  async run(_given, { io, client, json }) {
    const result = await client.call("handles.list", {});
    if (json) await io.out(`${JSON.stringify(result)}\n`);
    else if (result.handles.length === 0) {
      io.err("There is no secret yet. Ask the human for one with: custos drop NAME --reason TEXT\n");
    }
    for (const [at, handle] of json ? [] : result.handles.entries()) {
      await io.out((at > 0 ? "\n" : "") + handleLines(handle, io.now(), io.colour));
    }
    return 0;
  },
};
