/** The command line of `deno task install`. */
import { parseArgs } from "node:util";
import { join, resolve } from "node:path";
import { DEFAULT_PWA_ORIGIN, DEFAULT_PWA_PORT, DEFAULT_RELAY_PORT, places, type ReadEnv } from "../paths.ts";
import type { Values } from "../permissions.ts";

/** What is to be done. The `print-…` ones write nothing. */
export type Action = "install" | "uninstall" | "print" | "print-units" | "print-jsr";

/** What was chosen, with every path absolute. */
export interface InstallOptions {
  readonly action: Action;
  /** Nobody is asked before files are written. */
  readonly yes: boolean;
  /** `bin` and `lib/custos` below it are written. */
  readonly prefix: string;
  readonly home: string | null;
  /** The places of the daemon, the relay and the phone app. */
  readonly values: Values;
  /** The socket that `custos` and `custos-mcp` open: the daemon's, or the door before it (`--own-user`). */
  readonly caller_socket: string;
  /** A relay elsewhere; null: `custos-relay` on this machine. */
  readonly relay: string | null;
  readonly pwa_origin: string;
  readonly name: string | null;
  /** The OS user that daemon and relay run as; null: the one who installs. */
  readonly own_user: string | null;
  /** Keep a copy of Deno with the installation, wherever it is now. */
  readonly copy_deno: boolean;
}

/** State folder of an installation with an OS user of its own. */
export const OWN_USER_STATE = "/var/lib/custos";

/** The socket that other users may open, in front of a daemon with an OS user of its own. */
export const DOOR_SOCKET = "/run/custos-door/custos.sock";

/** What `--help` prints. */
export const HELP = `Usage: deno task install [options]

Puts custos, custos-daemon, custos-mcp, custos-relay, custos-pwa and custos-verify-pwa in PREFIX/bin, and a copy of
their code in PREFIX/lib/custos. Shows every file first. The state folder is not touched.

  --prefix DIR         where to (default ~/.local)
  --yes                do not ask; needed where stdin is no terminal
  --print              show what would be written, and end
  --print-units        print service units for systemd and launchd, and end
  --print-jsr          print the equal "deno install" lines for the packages on JSR, and end
  --uninstall          remove what was installed; secrets, log and settings stay
  --state DIR          the state folder (default as deno task start)
  --profile NAME       public (default), or lan for APIs on your own network
  --relay URL          a relay elsewhere (default: custos-relay on this machine)
  --pwa-origin ORIGIN  where the phone app is served (default ${DEFAULT_PWA_ORIGIN})
  --relay-port N, --pwa-port N
                       ports of the two on this machine (default ${DEFAULT_RELAY_PORT} and ${DEFAULT_PWA_PORT})
  --name NAME          what phones call this computer
  --own-user NAME      for a daemon under an OS user of its own; see docs/install.md
  --copy-deno          keep a copy of Deno with it, even where the one in use would stay

Exit codes: 0 done, 1 not done, 2 wrong usage.
`;

/** Reads the command line; null for `--help`. Throws `RangeError` with what to do. */
export function readInstallOptions(args: readonly string[], readEnv: ReadEnv): InstallOptions | null {
  const given = parse(args);
  if (given.help === true) return null;
  const { profile, relay } = given;
  if (profile !== "public" && profile !== "lan") throw new RangeError("--profile is public or lan.");
  const own_user = given["own-user"] ?? null;
  if (own_user !== null && !/^[a-z_][a-z0-9_-]{0,30}$/.test(own_user)) {
    throw new RangeError("--own-user is the name of a system user, in small letters.");
  }
  const state = given.state ?? (own_user === null ? undefined : OWN_USER_STATE);
  const found = places(readEnv, {
    profile,
    ...(state === undefined ? {} : { state }),
    relay_port: port("--relay-port", given["relay-port"], DEFAULT_RELAY_PORT),
    pwa_port: port("--pwa-port", given["pwa-port"], DEFAULT_PWA_PORT),
  });
  const values = relay === undefined ? found : { ...found, relay_socket: null };
  return {
    action: actionOf(given),
    yes: given.yes === true,
    prefix: given.prefix === undefined ? defaultPrefix(readEnv) : resolve(given.prefix),
    home: readEnv("HOME") ?? null,
    values,
    caller_socket: own_user === null ? values.socket : DOOR_SOCKET,
    relay: relay === undefined ? null : origin("--relay", relay),
    pwa_origin: origin("--pwa-origin", given["pwa-origin"] ?? `http://localhost:${found.pwa_port}`),
    name: given.name ?? null,
    own_user,
    copy_deno: given["copy-deno"] === true,
  };
}

/** The relay as phones reach it. */
export function relayUrl({ relay, values }: InstallOptions): string {
  return relay ?? `http://${values.relay_address}`;
}

// deno-lint-ignore explicit-function-return-type
function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        prefix: text,
        yes: flag,
        print: flag,
        "print-units": flag,
        "print-jsr": flag,
        uninstall: flag,
        state: text,
        profile: { ...text, default: "public" },
        relay: text,
        "relay-port": text,
        "pwa-port": text,
        "pwa-origin": text,
        name: text,
        "own-user": text,
        "copy-deno": flag,
        help: flag,
      },
    }).values;
  } catch (error) {
    throw new RangeError(error instanceof Error ? error.message : String(error));
  }
}

function actionOf(given: Readonly<Record<string, unknown>>): Action {
  const named = (["uninstall", "print", "print-units", "print-jsr"] as const).filter((name) =>
    given[name] === true
  );
  if (named.length > 1) throw new RangeError(`--${named.join(" and --")} exclude each other.`);
  return named[0] ?? "install";
}

function defaultPrefix(readEnv: ReadEnv): string {
  const home = readEnv("HOME");
  if (home === undefined || !home.startsWith("/")) throw new RangeError("HOME is not set. Use --prefix DIR.");
  return join(home, ".local");
}

function port(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new RangeError(`${name} is a number from 1 to 65535.`);
}

function origin(name: string, text: string): string {
  const url = URL.parse(text);
  if (url !== null && url.origin === text && /^https?:$/.test(url.protocol)) return text;
  throw new RangeError(`${name} is an origin such as https://custos.example, without a path.`);
}
