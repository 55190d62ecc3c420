import { CustosError } from "@custos/core/errors";
import type { Command, Context } from "../command.ts";
import { statusLine } from "../views.ts";

/** `custos policy confirm`. */
export const command: Command = {
  name: "policy",
  usage: "confirm REQUEST_ID",
  about:
    "Confirms a change that lets a secret do more than before: asks for the first of the three words on the phone's card. " +
    "A web page cannot type here, so a phone app that went wrong cannot widen a policy by itself. The change still needs " +
    "the approval on the phone.",
  options: {},
  positionals: [2, 2],
  examples: [["custos policy confirm REQUEST_ID", "a change on the phone asks for it"]],
  async run(given, context) {
    const { client, io, json, shown } = context;
    const [verb, request_id] = given.positionals as [string, string];
    if (verb !== "confirm") {
      throw new CustosError("bad_request", "The one thing to do here is: custos policy confirm REQUEST_ID");
    }
    const word = (await askWord(context)).trim().toLowerCase();
    if (word === "") throw new CustosError("bad_request", "No word was typed, so nothing was confirmed.");
    const result = await client.call("policy.confirm", { request_id, word });
    await shown.request(result.request_id, result.fingerprint);
    if (json) await io.out(`${JSON.stringify(result)}\n`);
    else io.err(`Confirmed. Now approve the change on the phone. ${statusLine(result.status)}\n`);
    return 0;
  },
};

/** One line from the terminal, or from stdin where there is none. A closed stdin ends the command (B109). */
async function askWord({ io }: Context): Promise<string> {
  const prompt = "Type the first of the three words on the phone's card:";
  if (!io.terminals.stdin || !await io.tty(`${prompt} `)) io.err(`${prompt}\n`);
  const line = await io.readLine();
  if (line === null) {
    throw new CustosError(
      "bad_request",
      "There is no terminal and no word on stdin, so nothing was confirmed.",
    );
  }
  return line;
}
