/** The command line of the daemon. */

import { parseArgs } from "node:util";
import { CustosError } from "@custos/core/errors";
import type { DaemonOptions } from "./daemon.ts";
import { relayAddress } from "./relay_line.ts";
import { normaliseOrigin } from "./webauthn_check.ts";

/** `public` denies private addresses, `lan` allows loopback and RFC 1918 (DESIGN §3). */
export type Profile = "public" | "lan";

/** What the command line says. */
export interface DaemonArgs extends DaemonOptions {
  socket: string;
  json: boolean;
}

/** The help text. */
export const HELP = `custos daemon: keeps secrets sealed, asks your phone, and sends what you approve.

Usage: custos-daemon --state DIR --socket PATH --relay URL [options]

  --state DIR          folder for the database (0700)
  --socket PATH        unix socket for cli and mcp, in a folder of its own
  --relay URL          the relay: https://host, http://host:port or unix:/path
  --relay-url URL      the relay's address as phones see it (needed with unix:)
  --pwa-origin ORIGIN  origin of the phone app (default http://localhost:8788)
  --profile NAME       public (default) or lan; lan may reach loopback and private networks
  --name NAME          what phones call this computer (default "this computer")
  --json               print one JSON line when ready
  --help               this text
`;

/** Reads the command line. Returns `null` for `--help`. Throws `bad_request`. */
export function readArgs(argv: readonly string[]): DaemonArgs | null {
  const { values } = parse(argv);
  if (values.help) return null;
  const { state, socket, relay } = values;
  if (state === undefined || socket === undefined || relay === undefined) {
    throw wrong("--state, --socket and --relay are needed");
  }
  if (!state.startsWith("/") || !socket.startsWith("/")) {
    throw wrong("--state and --socket must be absolute paths");
  }
  const profile = values.profile ?? "public";
  if (profile !== "public" && profile !== "lan") throw wrong("--profile is public or lan");
  const name = (values.name ?? "this computer").trim();
  if (name === "" || name.length > 64) throw wrong("--name has 1 to 64 characters");
  return {
    state,
    socket,
    profile,
    name,
    relay: relayAddress(relay, values["relay-url"]),
    phoneOrigin: normaliseOrigin(values["pwa-origin"] ?? "http://localhost:8788"),
    json: values.json ?? false,
  };
}

function parse(argv: readonly string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    return parseArgs({
      args: [...argv],
      strict: true,
      allowPositionals: false,
      options: {
        state: text,
        socket: text,
        relay: text,
        "relay-url": text,
        "pwa-origin": text,
        profile: text,
        name: text,
        json: flag,
        help: flag,
      },
    });
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : "an option is wrong");
  }
}

function wrong(why: string): CustosError {
  return new CustosError("bad_request", `The daemon did not start: ${why}. See --help.`);
}
