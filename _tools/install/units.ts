/**
 * Service units as text, for systemd and launchd. They are printed and never installed: what starts by itself is the
 * person's choice. Each starts a script of `PREFIX/bin`, which brings its own clean environment and flags (B188).
 */
import { dirname, join } from "node:path";
import type { PartName } from "../permissions.ts";
import type { InstallOptions } from "./options.ts";
import { binFolder } from "./shims.ts";
import { launchdAgents } from "./units_launchd.ts";

/** Folder of systemd's user units. */
const USER_UNITS = "~/.config/systemd/user";

/** The services of an installation: the daemon, and a relay and the phone app where they are on this machine. */
export function services({ relay, pwa_origin }: InstallOptions): PartName[] {
  const local_page = new URL(pwa_origin).hostname === "localhost";
  return [...(relay === null ? ["relay" as const] : []), ...(local_page ? ["pwa" as const] : []), "daemon"];
}

/** All units with what to do with them. */
export function units(options: InstallOptions): string {
  return options.own_user === null ? ownAccount(options) : otherUser(options, options.own_user);
}

/** How services are stopped and taken away. */
export function unitsHint(options: InstallOptions): string {
  const names = services(options).map((part) => `custos-${part}`).reverse().join(" ");
  const scope = options.own_user === null ? "systemctl --user" : "sudo systemctl";
  return `  Linux   ${scope} disable --now ${names}
  macOS   launchctl bootout gui/$(id -u)/invalid.custos.daemon
  or end the daemon by its process id`;
}

function ownAccount(options: InstallOptions): string {
  const files = services(options).map((part) =>
    file(`${USER_UNITS}/custos-${part}.service`, unit(part, options))
  );
  const names = services(options).map((part) => `custos-${part}`).join(" ");
  return [
    "# systemd, in your own account. Save each file under the name above it, then:",
    `#   systemctl --user daemon-reload && systemctl --user enable --now ${names}`,
    "# To keep it running while you are not logged in: loginctl enable-linger",
    "# To take it away: systemctl --user disable --now …, remove the files, then deno task install --uninstall",
    "",
    ...files,
    launchdAgents(options),
  ].join("\n");
}

/**
 * A daemon under its own user. Its folders are 0700, so callers come through a door: a socket of systemd that only a group
 * may open and that is passed on to the daemon's own.
 */
function otherUser(options: InstallOptions, user: string): string {
  const state = dirname(options.values.daemon_dir);
  return [
    `# systemd, for a daemon under the system user ${user}. As root:`,
    `#   useradd --system --home-dir ${state} --shell /usr/sbin/nologin ${user}`,
    "#   groupadd --system custos-callers && usermod --append --groups custos-callers YOUR_ACCOUNT",
    `#   deno task install --prefix /usr/local --own-user ${user} --copy-deno`,
    "# Save each file under the name above it, then:",
    `#   systemctl daemon-reload && systemctl enable --now ${
      services(options).map((part) => `custos-${part}`).join(" ")
    } custos-door.socket`,
    "# Log in again, so that the group counts. Who is in the group may ask for requests; nobody but the phone approves.",
    "# macOS: there is no such door, so custos has no own-user variant there.",
    "",
    ...services(options).map((part) =>
      file(`/etc/systemd/system/custos-${part}.service`, unit(part, options, user))
    ),
    file("/etc/systemd/system/custos-door.socket", DOOR(options)),
    file("/etc/systemd/system/custos-door.service", DOOR_SERVICE(options, user)),
  ].join("\n");
}

function file(path: string, text: string): string {
  return `# ---- ${path}\n${text}`;
}

/** What works in a user's own systemd, which has no privileges to give away. */
const HARDENED: readonly string[] = [
  "NoNewPrivileges=yes",
  "LockPersonality=yes",
  "RestrictRealtime=yes",
  "RestrictNamespaces=yes",
  "RestrictSUIDSGID=yes",
  // Not MemoryDenyWriteExecute: the JavaScript engine compiles while it runs.
  "SystemCallArchitectures=native",
  "SystemCallFilter=@system-service",
  "SystemCallErrorNumber=EPERM",
  "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
  "UMask=0077",
  // A core file would hold what is in memory during a grant.
  "LimitCORE=0",
];

/** What the system's own manager can do beside that. */
const HARDENED_SYSTEM: readonly string[] = [
  "ProtectSystem=strict",
  "ProtectHome=yes",
  "PrivateTmp=yes",
  "PrivateDevices=yes",
  "ProtectClock=yes",
  "ProtectControlGroups=yes",
  "ProtectHostname=yes",
  "ProtectKernelLogs=yes",
  "ProtectKernelModules=yes",
  "ProtectKernelTunables=yes",
  "ProtectProc=invisible",
  "CapabilityBoundingSet=",
  "AmbientCapabilities=",
  "RemoveIPC=yes",
];

const WHAT: Readonly<Partial<Record<PartName, string>>> = {
  daemon: "custos daemon: keeps secrets sealed and asks your phone",
  relay: "custos relay: sealed messages between daemon and phone",
  pwa: "custos phone app for a browser on this machine",
};

function unit(part: PartName, options: InstallOptions, user: string | null = null): string {
  const after = part === "daemon" && options.relay === null ? ["custos-relay.service"] : [];
  const state = dirname(options.values.daemon_dir);
  const identity = user === null ? [] : [`User=${user}`, `Group=${user}`];
  // The system's manager makes the folder for its user; in your own account the programs make theirs.
  const folders = user === null
    ? []
    : state.startsWith("/var/lib/")
    ? [`StateDirectory=${state.slice("/var/lib/".length)}`, "StateDirectoryMode=0700"]
    : [`ReadWritePaths=${state}`];
  return `[Unit]
Description=${WHAT[part]}
Documentation=file:${escaped(join(options.prefix, "lib", "custos"))}
After=${["network.target", ...after].join(" ")}${after.length > 0 ? `\nWants=${after.join(" ")}` : ""}

[Service]
ExecStart="${escaped(join(binFolder(options.prefix), `custos-${part}`))}"
Restart=on-failure
RestartSec=5
TimeoutStopSec=10
StandardInput=null
${[...identity, ...folders, ...HARDENED, ...(user === null ? [] : HARDENED_SYSTEM)].join("\n")}

[Install]
WantedBy=${user === null ? "default.target" : "multi-user.target"}
`;
}

/** `%` begins a specifier in a unit, and `\\` and `"` end or escape in a quoted word. */
function escaped(path: string): string {
  return path.replaceAll("%", "%%").replace(/[\\"]/g, "\\$&");
}

function DOOR({ caller_socket }: InstallOptions): string {
  return `[Unit]
Description=custos: the socket that callers may open

[Socket]
ListenStream=${caller_socket}
DirectoryMode=0755
SocketMode=0660
SocketUser=root
SocketGroup=custos-callers
RemoveOnStop=yes

[Install]
WantedBy=sockets.target
`;
}

function DOOR_SERVICE({ values }: InstallOptions, user: string): string {
  return `[Unit]
Description=custos: passes callers on to the daemon
Requires=custos-door.socket
After=custos-door.socket custos-daemon.service

[Service]
ExecStart=/usr/lib/systemd/systemd-socket-proxyd ${escaped(values.socket)}
User=${user}
Group=${user}
${[...HARDENED, ...HARDENED_SYSTEM].join("\n")}
PrivateNetwork=yes
`;
}
