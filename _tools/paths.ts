/**
 * Where things are on this machine: state folder, sockets, ports. One rule for every task, so that `custos` finds the
 * daemon that `start` began.
 *
 * State: `--state`, else `$CUSTOS_STATE`, else `$XDG_STATE_HOME/custos`, else `~/.local/state/custos`.
 * Sockets: `$XDG_RUNTIME_DIR/custos/` for the default state, `<state>/run/` where a state folder was named (two folders
 * are two daemons, case B191) or there is no such variable.
 */
import { isAbsolute, join, resolve } from "node:path";
import { PUSH_SERVICES } from "../relay/push_services.ts";
import type { Profile, Values } from "./permissions.ts";

/** Longest socket path in bytes that works on Linux (107) and macOS (103). Case B184. */
export const MAX_SOCKET_BYTES = 103;

/** The port on which the relay of `deno task start` listens for browsers. */
export const DEFAULT_RELAY_PORT = 8787;

/** The port on which `deno task start` serves the phone's page. */
export const DEFAULT_PWA_PORT = 8788;

/**
 * The origin of that page. It is `localhost`, not an address: passkeys belong to a host name (WebAuthn allows no IP
 * literal), and to this origin for good.
 */
export const DEFAULT_PWA_ORIGIN = `http://localhost:${DEFAULT_PWA_PORT}`;

/** What the caller chose. */
export interface PlaceOptions {
  readonly state?: string;
  readonly relay_port?: number;
  readonly pwa_port?: number;
  /** The relay may call the push services. */
  readonly push?: boolean;
  readonly profile?: Profile;
}

/** Reads one environment variable. */
export type ReadEnv = (name: string) => string | undefined;

/**
 * Computes every path and address from the environment and the caller's choice. Makes nothing.
 * @throws {RangeError} where no state folder can be found, or a socket's path would be too long.
 */
export function places(readEnv: ReadEnv, options: PlaceOptions = {}): Values {
  const named = options.state ?? present(readEnv("CUSTOS_STATE"));
  const state = named === undefined ? defaultState(readEnv) : resolve(named);
  const runtime = present(readEnv("XDG_RUNTIME_DIR"));
  const run = named === undefined && runtime !== undefined && isAbsolute(runtime)
    ? join(runtime, "custos")
    : join(state, "run");
  return placesIn(state, { ...options, run });
}

/** The same for one given folder, as tests use it: `placesIn(await Deno.makeTempDir(), {relay_port: 0, profile: "lan"})`. */
export function placesIn(
  state: string,
  options: Omit<PlaceOptions, "state"> & { run?: string } = {},
): Values {
  const run = options.run ?? join(state, "run");
  const socket = join(run, "custos.sock");
  const relay_socket = join(run, "relay.sock");
  for (const path of [socket, relay_socket]) {
    const bytes = new TextEncoder().encode(path).length;
    if (bytes > MAX_SOCKET_BYTES) {
      throw new RangeError(
        `The socket path ${path} has ${bytes} bytes; systems allow ${MAX_SOCKET_BYTES}. ` +
          "Set XDG_RUNTIME_DIR or CUSTOS_STATE to a shorter folder.",
      );
    }
  }
  return {
    daemon_dir: join(state, "daemon"),
    relay_dir: join(state, "relay"),
    phone_dir: join(state, "phone"),
    socket,
    relay_socket,
    relay_address: `127.0.0.1:${options.relay_port ?? DEFAULT_RELAY_PORT}`,
    push_services: options.push === true ? PUSH_SERVICES : [],
    pwa_port: options.pwa_port ?? DEFAULT_PWA_PORT,
    verify_host: null,
    phone_net: ["127.0.0.1", "localhost"],
    profile: options.profile ?? "public",
  };
}

/**
 * Makes a folder (and its parents) that only this user can enter, or checks one that is there.
 * @throws {RangeError} where it is a link, or others can read it: a socket or key in it would not be ours alone.
 */
export function privateFolder(path: string): void {
  Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
  const info = Deno.lstatSync(path);
  if (!info.isDirectory) throw new RangeError(`${path} is not a folder. Choose another with --state.`);
  const mode = (info.mode ?? 0) & 0o777;
  if ((mode & 0o077) !== 0) {
    throw new RangeError(
      `${path} is open to others (mode ${mode.toString(8)}). Close it with: chmod 700 ${path}`,
    );
  }
}

function present(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}

function defaultState(readEnv: ReadEnv): string {
  const xdg = present(readEnv("XDG_STATE_HOME"));
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, "custos");
  const home = present(readEnv("HOME"));
  if (home === undefined) throw new RangeError("HOME is not set. Set CUSTOS_STATE to the state folder.");
  return join(home, ".local", "state", "custos");
}
