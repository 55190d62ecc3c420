/** What can be said to the software phone on its command line. Values are never among it: they come from stdin. */

import { parseArgs } from "node:util";
import { CustosError } from "@custos/core/errors";
import { isPrivateHost } from "@custos/core/host_scope";
import type { Placement } from "@custos/core/policy";
import type { DropFields, Offer } from "@custos/pwa";

/** The usage text. */
export const USAGE = `The software phone: a phone without a screen, for trying and testing custos.

  phone pair <link> [--yes-sheet] [--name TEXT]   pair with the link that "custos pair" shows
  phone watch                                     show cards as they come, until stopped
  phone cards                                     show the cards that wait
  phone approve [--request ID] [--once | --path | --minutes N]
  phone deny [--request ID]
  phone drop [--request ID] [--as NAME] --origin URL… --value-stdin
             [--bearer | --header NAME [--template T] | --basic USER | --query NAME]
             [--method M]… [--path-prefix P] [--max-seconds N] [--grant-minutes N]
  phone lock                                      end every grant on the computer

Everywhere: --state DIR (its folder), --json (one JSON object a line), --relay URL (a relay that is not on this machine).
Without --request there must be exactly one card that fits.`;

/** The command line, read. */
export interface Options {
  command: string;
  link: string | null;
  state: string;
  json: boolean;
  request: string | null;
  yes_sheet: boolean;
  device_name: string | null;
  offer: Offer | null;
  drop: DropOptions;
}

/** The fields of a drop that were given. The name is the request's where it is `null`. */
export interface DropOptions {
  name: string | null;
  origins: string[];
  placement: Placement;
  methods: string[];
  path_prefix: string;
  max_seconds: number;
  grant_minutes: number | null;
  value_stdin: boolean;
}

const COMMANDS = ["pair", "watch", "cards", "approve", "deny", "drop", "lock", "help"];

/** Reads the command line. Throws `bad_request` with what is wrong. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parse(args);
  const [command = "help", link, ...more] = positionals;
  if (!COMMANDS.includes(command)) throw usage(`There is no command ${JSON.stringify(command)}.`);
  if (more.length > 0 || (link !== undefined && command !== "pair")) throw usage("There is a word too many.");
  if (command === "pair" && link === undefined) throw usage("pair needs the link.");
  if (command !== "help" && values.state === undefined) throw usage("--state DIR is missing.");
  // --name is the device's at pairing and the secret's at a drop; each has its own spelling too
  const name = values.name ?? null;
  return {
    command: values.help ? "help" : command,
    link: link ?? null,
    state: values.state ?? "",
    json: values.json,
    request: values.request ?? null,
    yes_sheet: values["yes-sheet"],
    device_name: name,
    offer: offerOf(values),
    drop: {
      name: values.as ?? name,
      origins: values.origin ?? [],
      placement: placementOf(values),
      methods: (values.method ?? ["GET", "POST"]).map((method) => method.toUpperCase()),
      path_prefix: values["path-prefix"] ?? (typeof values.path === "string" ? values.path : "/"),
      max_seconds: numberOf("--max-seconds", values["max-seconds"]) ?? 3_600,
      grant_minutes: numberOf("--grant-minutes", values["grant-minutes"]),
      value_stdin: values["value-stdin"],
    },
  };
}

/** The fields of a drop card. `private_network` follows from origins that were written out; the command says so. */
export function dropFields(options: DropOptions, name: string): DropFields {
  if (options.origins.length === 0) throw usage("drop needs --origin, as https://host.");
  const { origins, placement, methods, path_prefix, max_seconds, grant_minutes } = options;
  return {
    name: options.name ?? name,
    origins,
    placement,
    rules: [{ methods: [...new Set(methods)], path_prefix }],
    max_seconds,
    private_network: origins.some(needsPrivateNetwork),
    ...(grant_minutes === null ? {} : { first_grant_seconds: grant_minutes * 60 }),
  };
}

/** Whether an origin can only be reached with `private_network`: plain http, or an address that is not public. */
function needsPrivateNetwork(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" || isPrivateHost(hostname);
}

type Values = ReturnType<typeof parse>["values"];

function parse(args: readonly string[]) {
  // `approve --path` is a choice, `drop --path P` a value: which one it is depends on the command
  const path = { type: args.includes("drop") ? "string" : "boolean" } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        as: { type: "string" },
        basic: { type: "string" },
        bearer: { type: "boolean", default: false },
        "grant-minutes": { type: "string" },
        header: { type: "string" },
        help: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        "max-seconds": { type: "string" },
        method: { type: "string", multiple: true },
        minutes: { type: "string" },
        name: { type: "string" },
        once: { type: "boolean", default: false },
        origin: { type: "string", multiple: true },
        path,
        "path-prefix": { type: "string" },
        query: { type: "string" },
        relay: { type: "string" }, // read by the launcher, which turns it into a permission
        request: { type: "string" },
        state: { type: "string" },
        template: { type: "string" },
        "value-stdin": { type: "boolean", default: false },
        "yes-sheet": { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw usage(error instanceof Error ? error.message : "The options cannot be read.");
  }
}

function offerOf(values: Values): Offer | null {
  const minutes = numberOf("--minutes", values.minutes);
  const chosen = [values.once, values.path === true, minutes !== null].filter(Boolean).length;
  if (chosen > 1) throw usage("Choose one of --once, --path and --minutes.");
  if (minutes !== null) return { kind: "minutes", minutes };
  if (values.once) return { kind: "once" };
  return values.path === true ? { kind: "path" } : null;
}

function placementOf(values: Values): Placement {
  const { bearer, header, basic, query, template } = values;
  if ([bearer, header, basic, query].filter((one) => one !== undefined && one !== false).length > 1) {
    throw usage("Choose one of --bearer, --header, --basic and --query.");
  }
  if (template !== undefined && header === undefined) throw usage("--template belongs to --header.");
  if (header !== undefined) return { kind: "header", name: header, template: template ?? "{secret}" };
  if (basic !== undefined) return { kind: "basic", username: basic };
  return query === undefined ? { kind: "bearer" } : { kind: "query", name: query };
}

function numberOf(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usage(`${name} takes a whole number, at least 1.`);
}

function usage(why: string): CustosError {
  return new CustosError("bad_request", `${why} See: phone help`);
}
