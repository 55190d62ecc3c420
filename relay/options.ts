/** The command line of the relay. */

import { parseArgs } from "node:util";
import { DEFAULT_LIMITS, type RelayLimits } from "./limits.ts";
import { parsePlace, type Place } from "./listen.ts";
import { StartError } from "./start_error.ts";

/** What the command line says. */
export interface RelayArguments {
  data: string;
  listen: Place[];
  origins: string[];
  invite_file: string | null;
  proxy_hops: number;
  /** Whom push services may ask about this relay's pushes; `null`: it sends none. */
  push_contact: string | null;
  limits: Partial<RelayLimits>;
  json: boolean;
}

/** What `--help` prints. */
export const HELP = `custos relay: stores sealed messages and wakes those who wait. It can read none of them.

Usage: relay --data DIR [--listen PLACE]... [--pwa-origin ORIGIN]... [options]

  --data DIR           folder for the mailboxes; made with mode 0700 if it is absent
  --listen PLACE       127.0.0.1:8787 (the default), [::1]:8787 or unix:/path; may be repeated
  --pwa-origin ORIGIN  an origin of the phone app, such as https://custos.example; may be repeated.
                       Pages of other origins are refused
  --invite-file FILE   only those who know the text in this file may make mailboxes
  --push-contact WHO   wake phones by Web Push; WHO is mailto:you@your.domain or an https: page that push services
                       can turn to. Without it no push is sent
  --proxy-hops N       count requests by X-Forwarded-For, behind N proxies of your own (default 0)
  --limit NAME=N       change a limit; may be repeated. Names and defaults:
${
  Object.entries(DEFAULT_LIMITS).map(([name, value]) => `                         ${name}=${value}`).join(
    "\n",
  )
}
  --json               when ready, print one JSON line on stdout
  --help               print this

Exit codes: 0 stopped, 2 wrong flags or environment, 5 data folder, 6 cannot listen.
`;

/** Parses the command line; `null` for `--help`. Throws {@link StartError} `usage`. */
export function parseRelayArguments(args: readonly string[]): RelayArguments | null {
  const values = parse(args);
  if (values.help === true) return null;
  if (values.data === undefined || values.data === "") {
    throw new StartError("usage", "Say where the mailboxes are kept: --data DIR.");
  }
  return {
    data: values.data,
    listen: (values.listen ?? ["127.0.0.1:8787"]).map(parsePlace),
    origins: (values["pwa-origin"] ?? []).map(checkedOrigin),
    invite_file: values["invite-file"] ?? null,
    push_contact: values["push-contact"] === undefined ? null : checkedContact(values["push-contact"]),
    proxy_hops: wholeNumber("--proxy-hops", values["proxy-hops"] ?? "0"),
    limits: Object.fromEntries((values.limit ?? []).map(parseLimit)),
    json: values.json === true,
  };
}

// deno-lint-ignore explicit-function-return-type
function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      strict: true,
      options: {
        data: { type: "string" },
        listen: { type: "string", multiple: true },
        "pwa-origin": { type: "string", multiple: true },
        "invite-file": { type: "string" },
        "push-contact": { type: "string" },
        "proxy-hops": { type: "string" },
        limit: { type: "string", multiple: true },
        json: { type: "boolean" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    throw new StartError("usage", `${(error as Error).message} Try --help.`);
  }
}

/** An origin as browsers send it: anything else would never match and look like a mistake of the relay. */
function checkedOrigin(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.origin !== text || !/^https?:$/.test(url.protocol)) {
    throw new StartError(
      "usage",
      `--pwa-origin takes an origin such as https://custos.example, not ${text}.`,
    );
  }
  return text;
}

/**
 * A contact as push services take it (RFC 8292 §2.1). Some refuse every push of one that cannot be real, long after the
 * start (B128), so `localhost` and single labels are refused here.
 */
function checkedContact(text: string): string {
  const url = URL.parse(text);
  const host = url?.protocol === "mailto:"
    ? /^[\w.+-]+@([a-z0-9.-]+)$/i.exec(url.pathname)?.[1]
    : url?.protocol === "https:"
    ? url.hostname
    : undefined;
  if (
    host !== undefined && /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]+$/i.test(host) &&
    !/\.localhost$/i.test(host)
  ) {
    return text;
  }
  throw new StartError(
    "usage",
    `--push-contact takes mailto:you@your.domain or https://your.domain/page, not ${text}.`,
  );
}

function parseLimit(text: string): [string, number] {
  const [name = "", value = ""] = text.split("=");
  if (!Object.hasOwn(DEFAULT_LIMITS, name)) {
    throw new StartError("usage", `There is no limit ${name}. Try --help.`);
  }
  const limit = wholeNumber(`--limit ${name}`, value);
  if (limit === 0) throw new StartError("usage", `--limit ${name} must be at least 1.`);
  return [name, limit];
}

function wholeNumber(flag: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new StartError("usage", `${flag} takes a whole number.`);
  return Number(text);
}
