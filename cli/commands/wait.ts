import { WAIT_OPTION, waitMs } from "../args.ts";
import { waitFor } from "../asking.ts";
import type { Command } from "../command.ts";

/** `custos wait`. */
export const command: Command = {
  name: "wait",
  usage: "REQUEST_ID [--wait S]",
  about:
    "Waits for the answer to a request that was made before. Creates nothing, so it can be called again. " +
    "Of a delivered drop it prints the handle; of a granted request, the grant.",
  options: WAIT_OPTION,
  positionals: [1, 1],
  examples: [
    ["custos wait REQUEST_ID", "wait up to a minute"],
    ["custos wait REQUEST_ID --wait 0", "look, and return at once"],
  ],
  run: (given, context) => waitFor(given.positionals[0]!, waitMs(given), context),
};
