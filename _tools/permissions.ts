/**
 * The permission flags of every process: the one source (DESIGN §3). Tasks, `docs/permissions.md` and the golden lists in
 * `_tools/golden` are made from this file; nothing else writes a flag. It holds data and no I/O.
 *
 * Each flag says why it is there and what the process still cannot do. Every process runs with `--no-prompt`: a missing
 * permission is an error, never a question to whoever sits at the terminal.
 */
import { DELETED_ENV, DENIED_LAN, DENIED_PUBLIC, REFUSED_ENV } from "./permission_lists.ts";

/** The processes that custos starts. `phone` is the software phone, a test tool. */
export type PartName = "daemon" | "relay" | "pwa" | "cli" | "mcp" | "verify-pwa" | "phone";

/** `public` denies private addresses in the runtime; `lan` allows loopback and RFC 1918 (DESIGN §3). */
export type Profile = "public" | "lan";

/** The concrete values that flags are made of. Every path is absolute and has no comma (the flag syntax has no escape). */
export interface Values {
  /** State folder of the daemon alone. */
  readonly daemon_dir: string;
  /** Data folder of the relay alone. */
  readonly relay_dir: string;
  /** State folder of the software phone. */
  readonly phone_dir: string;
  /** The daemon's unix socket. Its folder belongs to custos and has mode 0700. */
  readonly socket: string;
  /** The unix socket of a relay on the same machine, or null where the relay is elsewhere. */
  readonly relay_socket: string | null;
  /** `host:port` on which the local relay listens for the browser. Port 0 lets the system choose. */
  readonly relay_address: string;
  /** Hosts of the push services that the relay may call; empty where it sends no pushes. */
  readonly push_services: readonly string[];
  /** Port of `localhost` on which the phone app is served on this machine. */
  readonly pwa_port: number;
  /** `host:port` of the origin that `custos-verify-pwa` looks at, or null where it is not run. */
  readonly verify_host: string | null;
  /** `host` or `host:port` of the relays that the software phone may reach. */
  readonly phone_net: readonly string[];
  readonly profile: Profile;
}

/** One flag, with the reason for it and what remains impossible. */
export interface Flag {
  readonly flag: string;
  readonly why: string;
  readonly cannot: string;
}

/** One process: its module, and its flags as a function of concrete values. */
export interface Part {
  /** Path of the entrypoint, from the top of the repository. */
  readonly module: string;
  /** One line for people. */
  readonly what: string;
  /** Names of environment variables that the launcher passes on where they are set. */
  readonly passes: readonly string[];
  readonly flags: (values: Values) => readonly Flag[];
}

const NO_PROMPT: Flag = {
  flag: "--no-prompt",
  why: "A missing permission is an error, never a question.",
  cannot: "be given more by a person who presses y",
};
const NO_LEGACY_ABORT: Flag = {
  flag: "--unstable-no-legacy-abort",
  why: "A request's signal must abort only when its caller has left, not after each answer.",
  cannot: "(no permission)",
};
const IGNORE_ENV: Flag = {
  flag: "--ignore-env",
  why: "Libraries look for variables of their own; they see nothing instead of failing.",
  cannot: "read a variable that is not named above",
};

/** What finds the socket, and who calls. */
const CALLER_ENV = [
  "CUSTOS_AGENT",
  "CUSTOS_SOCKET",
  "CUSTOS_STATE",
  "HOME",
  "XDG_RUNTIME_DIR",
  "XDG_STATE_HOME",
];

/** What a terminal can show. */
const TERMINAL_ENV = ["NO_COLOR", "TERM"];

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function env(names: readonly string[], why: string): Flag {
  return { flag: `--allow-env=${names.join(",")}`, why, cannot: "read or change any other variable" };
}

/** `--allow-read` and `--allow-write` of the same paths. */
function files(paths: readonly string[], why: string, cannot: string): Flag[] {
  const list = paths.join(",");
  return [{ flag: `--allow-read=${list}`, why, cannot }, { flag: `--allow-write=${list}`, why, cannot }];
}

/** What cli and mcp have in common: one socket and nothing else. */
function callerFlags(values: Values, names: readonly string[], why: string): Flag[] {
  return [
    NO_PROMPT,
    ...files([values.socket], "Connecting to a unix socket needs both.", "open any other path"),
    {
      flag: `--allow-net=unix:${values.socket}`,
      why: "The daemon's socket.",
      cannot: "reach any host, loopback included",
    },
    env(names, why),
    IGNORE_ENV,
  ];
}

const CACHED_ONLY: Flag = {
  flag: "--cached-only",
  why:
    "Nothing is imported that was not there at the start; the runtime does not hold a worker's import() back by itself.",
  cannot: "(no permission)",
};

function daemonFlags(values: Values): Flag[] {
  const folders = [values.daemon_dir, folderOf(values.socket)];
  if (values.relay_socket !== null) folders.push(values.relay_socket);
  const denied = values.profile === "public" ? DENIED_PUBLIC : DENIED_LAN;
  return [
    NO_PROMPT,
    CACHED_ONLY,
    {
      flag: "--unstable-worker-options",
      why: "Each egress cell is a worker with permissions of its own, narrower than these.",
      cannot: "(no permission)",
    },
    NO_LEGACY_ABORT,
    ...files(
      folders,
      "Its state folder, the folder of its socket, and a local relay's socket.",
      "read a home folder, a key file, the relay's data or its own code",
    ),
    {
      flag: "--allow-net",
      why:
        "Its socket, the relay, and hosts that people add to policies later. Each cell gets its own hosts only.",
      cannot: "reach what the next flag denies",
    },
    {
      flag: `--deny-net=${denied.join(",")}`,
      why: values.profile === "public"
        ? "Private, loopback, link-local, shared, multicast and metadata addresses, checked again after DNS."
        : "Link-local, shared, multicast and metadata addresses, checked again after DNS.",
      cannot: "be steered to an address of this machine's network by a name or a redirect",
    },
    env(
      [...DELETED_ENV, ...REFUSED_ENV],
      "Delete proxy variables; refuse to start under variables that open it to others.",
    ),
    IGNORE_ENV,
  ];
}

function relayFlags(values: Values): Flag[] {
  const unix = values.relay_socket === null ? [] : [values.relay_socket];
  return [
    NO_PROMPT,
    NO_LEGACY_ABORT,
    ...files(
      [values.relay_dir, ...unix],
      "Its mailboxes, and the unix socket on which a local daemon meets it.",
      "read the daemon's state or any other path",
    ),
    {
      flag: `--allow-net=${
        [
          values.relay_address,
          ...unix.map((path) => `unix:${path}`),
          ...values.push_services.map((host) => `${host}:443`),
        ].join(",")
      }`,
      why:
        "The addresses on which it listens; and the push services, where `--push-contact` turns pushes on.",
      cannot: "connect to anything else, or listen anywhere else",
    },
    env(REFUSED_ENV, "Refuse to start under variables that open it to others."),
    IGNORE_ENV,
  ];
}

function pwaFlags(values: Values): Flag[] {
  return [
    NO_PROMPT,
    CACHED_ONLY,
    {
      flag: `--allow-net=127.0.0.1:${values.pwa_port},[::1]:${values.pwa_port}`,
      why: "The addresses on which it listens. A browser's `localhost` is both.",
      cannot: "read a file, connect to anything, or listen anywhere else",
    },
  ];
}

function verifyFlags(values: Values): Flag[] {
  return [
    NO_PROMPT,
    CACHED_ONLY,
    {
      flag: `--allow-net=${values.verify_host ?? "custos.invalid:443"}`,
      why: "The one origin that it looks at.",
      cannot: "follow a redirect to another host, or read a file",
    },
  ];
}

function phoneFlags(values: Values): Flag[] {
  return [
    NO_PROMPT,
    ...files([values.phone_dir], "Its keys and the policy log it has seen.", "read the daemon's state"),
    {
      flag: `--allow-net=${values.phone_net.join(",")}`,
      why: "The relay, the only way to the daemon.",
      cannot: "reach the daemon's socket or another host",
    },
    IGNORE_ENV,
  ];
}

/** Every process, by name. */
export const PARTS: Readonly<Record<PartName, Part>> = {
  daemon: {
    module: "daemon/main.ts",
    what: "holds sealed secrets, asks people, sends requests through cells",
    passes: ["NO_COLOR"],
    flags: daemonFlags,
  },
  relay: {
    module: "relay/main.ts",
    what: "stores sealed messages between daemon and phone",
    passes: ["NO_COLOR"],
    flags: relayFlags,
  },
  pwa: {
    module: "pwa/serve.ts",
    what: "serves the phone app from its own code",
    passes: [],
    flags: pwaFlags,
  },
  cli: {
    module: "cli/main.ts",
    what: "the command `custos`",
    passes: [...CALLER_ENV, ...TERMINAL_ENV],
    flags: (values) =>
      callerFlags(
        values,
        [...CALLER_ENV, ...TERMINAL_ENV],
        "Find the socket, name the caller, suit the terminal.",
      ),
  },
  mcp: {
    module: "mcp/main.ts",
    what: "the MCP server on stdio",
    passes: CALLER_ENV,
    flags: (values) => callerFlags(values, CALLER_ENV, "Find the socket, name the caller."),
  },
  "verify-pwa": {
    module: "pwa/verify/main.ts",
    what: "compares what an origin serves with the phone app that was built",
    passes: [],
    flags: verifyFlags,
  },
  phone: {
    module: "tests/phone/main.ts",
    what: "the software phone, a test tool",
    passes: TERMINAL_ENV,
    flags: phoneFlags,
  },
};

/** The exact flag list of a process, in the order of the table. Throws `RangeError` for a value that a flag cannot hold. */
export function flagsOf(part: PartName, values: Values): string[] {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === "string" && value.includes(",")) {
      throw new RangeError(
        `${name} has a comma, which a permission flag cannot hold: ${value}. Use another folder.`,
      );
    }
    const is_path = name.endsWith("_dir") || name.endsWith("socket");
    if (is_path && value !== null && !String(value).startsWith("/")) {
      throw new RangeError(`${name} must be an absolute path, not ${JSON.stringify(value)}.`);
    }
  }
  return PARTS[part].flags(values).map((row) => row.flag);
}
