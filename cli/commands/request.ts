import { CustosError } from "@custos/core/errors";
import { toHandle, WAIT_OPTION, waitMs, wholeNumber } from "../args.ts";
import { answerTo } from "../asking.ts";
import type { Command } from "../command.ts";

/** `custos request`. */
export const command: Command = {
  name: "request",
  usage: "HANDLE --reason TEXT [options]",
  about: "Asks the human to allow the use of a secret for a while. Prints the grant once there is one.",
  options: {
    reason: { type: "string", value: "TEXT", help: "why, in your words; the card shows it" },
    method: { type: "string", short: "X", value: "M", list: true, help: "a method that is wanted" },
    "path-prefix": { type: "string", value: "PATH", help: "the path below which it is wanted" },
    seconds: { type: "string", value: "N", help: "how long it is wanted" },
    uses: { type: "string", value: "N", help: "how often it is wanted" },
    ...WAIT_OPTION,
  },
  positionals: [1, 1],
  hint: "request takes one handle. What else you want to say goes into --reason.",
  examples: [
    ['custos request custos:github --reason "triage new issues" --seconds 900', "ask for 15 minutes"],
    ['custos request custos:github --reason "triage" --wait 0', "ask, and return at once with the words"],
  ],
  async run(given, context) {
    const reason = given.one("reason");
    if (reason === undefined) {
      throw new CustosError("bad_request", "Say why with --reason TEXT; the human reads it.");
    }
    const optional = (name: string, max: number): number | undefined => {
      const text = given.one(name);
      return text === undefined ? undefined : wholeNumber(text, `--${name}`, 1, max);
    };
    const methods = given.all("method").map((method) => method.toUpperCase());
    const wait = waitMs(given);
    const asked = await context.client.call("access.request", {
      handle: toHandle(given.positionals[0]!),
      reason,
      ...(methods.length > 0 ? { methods } : {}),
      path_prefix: given.one("path-prefix"),
      seconds: optional("seconds", 2_592_000),
      uses: optional("uses", 1_000_000),
      wait_ms: 0,
      agent: context.agent,
    });
    return await answerTo(asked, wait, context);
  },
};
