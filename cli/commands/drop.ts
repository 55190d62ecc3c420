import { CustosError } from "@custos/core/errors";
import type { Placement, PolicyRule } from "@custos/core/policy";
import type { DropSuggestions } from "@custos/rpc/request_schemas";
import { WAIT_OPTION, waitMs, wholeNumber } from "../args.ts";
import { answerTo } from "../asking.ts";
import type { Command, Given } from "../command.ts";

/** `custos drop`. */
export const command: Command = {
  name: "drop",
  usage: "NAME --reason TEXT [options]",
  about:
    "Asks the human for a secret that is not there yet. They paste it on the phone and say where it may go; " +
    "you get its handle. What you suggest is shown as your suggestion and never filled in.",
  options: {
    reason: { type: "string", value: "TEXT", help: "why, in your words; the card shows it" },
    origin: {
      type: "string",
      value: "URL",
      list: true,
      help: "suggest an origin, such as https://api.github.com",
    },
    allow: { type: "string", value: "RULE", list: true, help: 'suggest a rule, such as "GET,POST /repos/"' },
    placement: { type: "string", value: "P", help: "suggest bearer, header:NAME, query:NAME or basic:USER" },
    seconds: { type: "string", value: "N", help: "suggest the longest grant" },
    ...WAIT_OPTION,
  },
  positionals: [1, 1],
  hint: "drop takes one name. A secret's value is never an argument: the human types it on the phone.",
  examples: [
    [
      'custos drop github --reason "open issues in acme/site" --origin https://api.github.com',
      "ask for a token",
    ],
    ["custos wait REQUEST_ID", "collect the handle later, without asking a second time"],
  ],
  async run(given, context) {
    const reason = given.one("reason");
    if (reason === undefined) {
      throw new CustosError("bad_request", "Say why with --reason TEXT; the human reads it.");
    }
    const wait = waitMs(given);
    const asked = await context.client.call("drop.request", {
      name: given.positionals[0]!.replace(/^custos:/, ""),
      reason,
      suggest: suggestions(given),
      wait_ms: 0,
      agent: context.agent,
    });
    return await answerTo(asked, wait, context);
  },
};

function suggestions(given: Given): DropSuggestions | undefined {
  const seconds = given.one("seconds");
  const placement = given.one("placement");
  const suggest: DropSuggestions = {
    ...(given.has("origin") ? { origins: given.all("origin") } : {}),
    ...(given.has("allow") ? { rules: given.all("allow").map(rule) } : {}),
    ...(placement === undefined ? {} : { placement: placementOf(placement) }),
    ...(seconds === undefined ? {} : { max_seconds: wholeNumber(seconds, "--seconds", 1, 2_592_000) }),
  };
  return Object.keys(suggest).length > 0 ? suggest : undefined;
}

function rule(text: string): PolicyRule {
  const match = /^([A-Za-z]+(?:,[A-Za-z]+)*) (\/\S*)$/.exec(text);
  if (match === null) {
    throw new CustosError(
      "bad_request",
      '--allow takes methods and a path prefix, such as "GET,POST /repos/".',
    );
  }
  return { methods: match[1]!.toUpperCase().split(","), path_prefix: match[2]! };
}

function placementOf(text: string): Placement {
  const [kind, name] = text.split(/:(.*)/s);
  if (kind === "bearer" && name === undefined) return { kind };
  if (kind === "header" && name) return { kind, name, template: "{secret}" };
  if (kind === "query" && name) return { kind, name };
  if (kind === "basic" && name) return { kind, username: name };
  throw new CustosError("bad_request", "--placement takes bearer, header:NAME, query:NAME or basic:USER.");
}
