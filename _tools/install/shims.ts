/**
 * The scripts that are installed. Each starts its part with exactly the flags of `permissions.ts`, a clean environment and
 * one Deno by its absolute path, and never looks at `PATH` (B188).
 */
import { dirname, join } from "node:path";
import { flagsOf, type PartName, PARTS, type Values } from "../permissions.ts";
import { type InstallOptions, relayUrl } from "./options.ts";
import { shellWord } from "./quote.ts";

/** Second line of every script that is ours, up to the build. What lacks it is never overwritten or removed. */
export const MARK = "# Made by custos install, build ";

/** Where the parts of one build are. */
export interface Build {
  /** `<version>-<digest>`. */
  readonly id: string;
  readonly code: string;
  readonly cache: string;
  readonly deno: string;
}

/** The parts that are installed, by the name of their command. */
export const COMMANDS: Readonly<Record<string, PartName>> = {
  "custos": "cli",
  "custos-daemon": "daemon",
  "custos-mcp": "mcp",
  "custos-relay": "relay",
  "custos-pwa": "pwa",
  "custos-verify-pwa": "verify-pwa",
};

/** The folder of the scripts. */
export function binFolder(prefix: string): string {
  return join(prefix, "bin");
}

/** Whether a script is one of ours. */
export function isOurs(text: string): boolean {
  return text.split("\n", 2)[1]?.startsWith(MARK) === true;
}

/** Every script by its name. Throws `RangeError` where a path cannot be in a flag or in a script. */
export function shims(options: InstallOptions, build: Build): Map<string, string> {
  return new Map(
    Object.entries(COMMANDS).map(([name, part]) => [name, shim(part, options, build)]),
  );
}

/** The values that a part's flags are made of. */
export function valuesOf(part: PartName, options: InstallOptions): Values {
  const { values, caller_socket } = options;
  return part === "cli" || part === "mcp" ? { ...values, socket: caller_socket } : values;
}

/** Stands in the flags of `verify-pwa` for what its script reads from its argument. */
const ASKED_HOST = "asked.invalid:1";

function shim(part: PartName, options: InstallOptions, build: Build): string {
  // `env` takes a first word with a = for a variable.
  if (build.deno.includes("=")) {
    throw new RangeError(`The path of Deno has a =, which env cannot start: ${build.deno}.`);
  }
  const values = {
    ...valuesOf(part, options),
    ...(part === "verify-pwa" ? { verify_host: ASKED_HOST } : {}),
  };
  const flags = flagsOf(part, values);
  const all = ["--frozen", ...(flags.includes("--cached-only") ? [] : ["--cached-only"]), ...flags];
  const words = [
    `${shellWord(build.deno)} run`,
    ...all.map((flag) => flagWord(flag)),
    [shellWord(join(build.code, PARTS[part].module)), ...defaults(part, options).map(shellWord), '"$@"'].join(
      " ",
    ),
  ];
  return [
    "#!/bin/sh",
    `${MARK}${build.id}. Changes to this file are lost at the next install.`,
    `# ${PARTS[part].what}.`,
    ...(part === "verify-pwa" ? ASK_HOST : []),
    ...privateFolders(part, options),
    "exec /usr/bin/env -i \\",
    `  ${environment(part, options, build)} \\`,
    ...words.map((word, at) => `  ${word}${at === words.length - 1 ? "" : " \\"}`),
    "",
  ].join("\n");
}

/**
 * The folders that a part may not make itself, since it is only given what is in them. They are made 0700, and whatever
 * the part writes is 0600 (B173); after a restart of the machine the one of the sockets may be gone (B188).
 */
function privateFolders(part: PartName, { values }: InstallOptions): string[] {
  if (part !== "daemon" && part !== "relay") return [];
  const folders = [part === "daemon" ? values.daemon_dir : values.relay_dir, dirname(values.socket)];
  return ["umask 077", `/bin/mkdir -p ${folders.map(shellWord).join(" ")} || exit 1`];
}

/** Only the value is quoted, so that the flag's name can be read at a glance. */
function flagWord(flag: string): string {
  if (flag === `--allow-net=${ASKED_HOST}`) return '"--allow-net=$host"';
  const at = flag.indexOf("=");
  return at < 0 ? flag : `${flag.slice(0, at)}=${shellWord(flag.slice(at + 1))}`;
}

/** The clean environment: Deno's cache, and the variables that the part may read, where they are set. */
function environment(part: PartName, options: InstallOptions, build: Build): string {
  const passed = PARTS[part].passes.map((name) =>
    name === "CUSTOS_SOCKET"
      ? socketVariable(valuesOf(part, options).socket)
      : `\${${name}+"${name}=$${name}"}`
  );
  return [`DENO_DIR=${shellWord(build.cache)}`, "DENO_NO_UPDATE_CHECK=1", ...passed].join(" \\\n  ");
}

/** The socket of this installation, unless the caller names another (which the flags then refuse, in words). */
function socketVariable(socket: string): string {
  const inside = socket.replace(/[\\"$`}]/g, "\\$&");
  return `"CUSTOS_SOCKET=\${CUSTOS_SOCKET:-${inside}}"`;
}

/** Options that the caller need not give. What follows on the command line wins over them. */
function defaults(part: PartName, options: InstallOptions): string[] {
  const { values, relay, pwa_origin, name } = options;
  switch (part) {
    case "daemon":
      return [
        ...["--state", values.daemon_dir, "--socket", values.socket, "--profile", values.profile],
        ...["--relay", relay ?? `unix:${values.relay_socket}`, "--relay-url", relayUrl(options)],
        ...["--pwa-origin", pwa_origin],
        ...(name === null ? [] : ["--name", name]),
      ];
    case "relay":
      return [
        ...["--data", values.relay_dir, "--listen", values.relay_address],
        ...(values.relay_socket === null ? [] : ["--listen", `unix:${values.relay_socket}`]),
        ...["--pwa-origin", pwa_origin],
      ];
    case "pwa":
      return ["--listen", `localhost:${values.pwa_port}`, "--relay", relayUrl(options)];
    default:
      return [];
  }
}

/** The one host that this run may reach, from the first argument that is an origin. Anything odd gets no host at all. */
const ASK_HOST: readonly string[] = [
  "host=custos.invalid:443",
  'for word in "$@"; do',
  '  case "$word" in',
  "    https://*) host=${word#https://}; port=443 ;;",
  "    http://*) host=${word#http://}; port=80 ;;",
  "    *) continue ;;",
  "  esac",
  '  case "$host" in',
  "    *[!A-Za-z0-9.:-]*|'') host=custos.invalid:443 ;;",
  "    *:*) ;;",
  "    *) host=$host:$port ;;",
  "  esac",
  "  break",
  "done",
];
