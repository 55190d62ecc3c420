/** The command line of the app's server. */

import { CustosError } from "@custos/core/errors";

/** An address to listen on. An `optional` one may be absent from the machine, never taken by somebody else. */
export interface ServeAddress {
  hostname: string;
  port: number;
  optional: boolean;
}

/** What the command line says. */
export interface ServeArgs {
  listen: ServeAddress[];
  /** Origins of the relays that the page may speak to. */
  relays: string[];
  json: boolean;
}

/** What `--help` prints. */
export const SERVE_HELP = `custos pwa: serves the phone app.

Usage: serve [--listen ADDRESS]... --relay ORIGIN [--relay ORIGIN]... [--json]

  --listen ADDRESS  localhost:8788 (the default: 127.0.0.1, and [::1] where there is IPv6), 127.0.0.1:8788 or
                    [::1]:8788; may be repeated
  --relay ORIGIN    a relay that the page may speak to, as the pairing code names it, such as
                    https://relay.example; may be repeated. Codes that name another are refused
  --json            when ready, print one JSON line on stdout
  --help            print this

Exit codes: 0 stopped, 2 wrong flags, 6 cannot listen.
`;

/** Reads the command line; `null` for `--help`. Throws `bad_request`. */
export function readServeArgs(argv: readonly string[]): ServeArgs | null {
  const given: ServeArgs = { listen: [], relays: [], json: false };
  const rest = argv.flatMap((arg) => /^--[a-z]+=/.test(arg) ? splitOnce(arg) : [arg]);
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--help") return null;
    if (arg === "--json") given.json = true;
    else if (arg === "--listen") given.listen.push(...addresses(valueOf(arg, rest)));
    else if (arg === "--relay") given.relays.push(origin(valueOf(arg, rest)));
    else throw wrong(`${arg} is not an option`);
  }
  if (given.relays.length === 0) throw wrong("--relay names the relay that the page may speak to");
  if (given.listen.length === 0) given.listen = addresses("localhost:8788");
  return given;
}

function splitOnce(arg: string): [string, string] {
  const at = arg.indexOf("=");
  return [arg.slice(0, at), arg.slice(at + 1)];
}

function valueOf(name: string, rest: string[]): string {
  const value = rest.shift();
  if (value === undefined || value === "") throw wrong(`${name} needs a value`);
  return value;
}

/**
 * `localhost` is both loopback addresses: where one of them is left free, another user of this machine could listen on it
 * and be "localhost" to a browser. Port 0 (the system chooses) takes one address, as the two would differ.
 */
function addresses(text: string): ServeAddress[] {
  const [, v6, name, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) {
    throw wrong(`--listen takes localhost:8788, 127.0.0.1:8788 or [::1]:8788, not ${text}`);
  }
  if (name !== "localhost") return [{ hostname: v6 ?? name!, port, optional: false }];
  const both = [{ hostname: "127.0.0.1", port, optional: false }, { hostname: "::1", port, optional: true }];
  return port === 0 ? both.slice(0, 1) : both;
}

/** An origin exactly as a CSP and a pairing code write it. */
function origin(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.origin !== text || !/^https?:$/.test(url.protocol)) {
    throw wrong(`--relay takes an origin such as https://relay.example, not ${text}`);
  }
  return text;
}

function wrong(why: string): CustosError {
  return new CustosError("bad_request", `The phone app is not served: ${why}. Try --help.`);
}
