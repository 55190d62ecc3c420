/**
 * The daemon's way to its relay: TCP, or a unix socket when both are on one machine, so that the `public` profile can keep
 * loopback denied (DESIGN §3).
 */

import { RelayClient } from "@custos/core/relay_client";
import { CustosError } from "@custos/core/errors";

/** Where the relay is: for the daemon, and as the QR says it to phones. */
export interface RelayAddress {
  /** `https://…`, `http://…` or `unix:/path`. */
  dial: string;
  /** The origin that phones use. */
  url: string;
}

/**
 * The URL under which a unix socket is fetched. An address and no name: the runtime looks a name up at each connection,
 * although it never connects there (ADR 0013). This one is for documentation only (RFC 5737) and reaches nobody.
 */
const UNIX_URL = "http://192.0.2.1";

/** Reads `--relay` and `--relay-url`. Throws `bad_request`. */
export function relayAddress(dial: string, url: string | undefined): RelayAddress {
  if (dial.startsWith("unix:/")) {
    if (url === undefined) throw wrong("--relay unix:PATH needs --relay-url, the address that phones use");
    return { dial, url: originOf(url, "--relay-url") };
  }
  const origin = originOf(dial, "--relay");
  return { dial: origin, url: url === undefined ? origin : originOf(url, "--relay-url") };
}

/** A client for the relay. Its connections may be reused: a message that arrives twice is discarded by its sequence. */
export function openRelay(address: RelayAddress): { client: RelayClient; close: () => void } {
  const unix = address.dial.startsWith("unix:");
  const http = unix
    ? Deno.createHttpClient({ proxy: { transport: "unix", path: address.dial.slice(5) } })
    : Deno.createHttpClient({});
  const client = new RelayClient({
    url: unix ? UNIX_URL : address.dial,
    fetch: (url, init) => fetch(url, { ...init, client: http } as RequestInit),
  });
  return { client, close: () => http.close() };
}

function originOf(text: string, option: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw wrong(`${option} must be an http(s) address or unix:/path`);
  }
  return url.origin;
}

function wrong(why: string): CustosError {
  return new CustosError("bad_request", `The daemon did not start: ${why}.`);
}
