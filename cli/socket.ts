/**
 * Where the daemon's socket is. A flag wins over the environment (B191): `--socket`, `CUSTOS_SOCKET`,
 * `$CUSTOS_STATE/run/`, `$XDG_RUNTIME_DIR/custos/`, and the state folder of the XDG rules or `~/.local/state`.
 */

import { CustosError } from "@custos/core/errors";

/** The path of the socket. Throws `bad_request` where nothing says where it is, or the path is not absolute. */
export function socketPath(flag: string | undefined, env: (name: string) => string | undefined): string {
  const value = (name: string) => env(name) || undefined;
  const named = flag ?? value("CUSTOS_SOCKET");
  if (named !== undefined) {
    if (named.startsWith("/")) return named;
    throw new CustosError("bad_request", "The path of the socket must begin with /.");
  }
  const state = value("CUSTOS_STATE");
  if (state?.startsWith("/")) return `${state}/run/custos.sock`;
  const runtime = value("XDG_RUNTIME_DIR");
  if (runtime?.startsWith("/")) return `${runtime}/custos/custos.sock`;
  const home = value("HOME");
  const xdg = value("XDG_STATE_HOME");
  const base = xdg?.startsWith("/") ? xdg : home?.startsWith("/") ? `${home}/.local/state` : null;
  if (base !== null) return `${base}/custos/run/custos.sock`;
  throw new CustosError(
    "bad_request",
    "HOME is not set, so the daemon's socket cannot be found. Use --socket.",
  );
}
