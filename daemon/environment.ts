/**
 * What the daemon refuses to start under (DESIGN §3). Permission flags are the sandbox, so a daemon that was given more
 * than it needs, or an environment that opens it to others, is not started at all.
 */

import { CustosError } from "@custos/core/errors";

/** Oldest Deno whose unix-socket permissions and deny rules hold (FACTS of ADR 0002). */
export const DENO_FLOOR: readonly [number, number, number] = [2, 9, 5];

/** Variables that would steer the sockets of egress cells: `fetch` obeys them even for 127.0.0.1. */
const PROXY_VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];

/** Variables under which a debugger, a key log or another process decides over this one. */
const REFUSED_VARIABLES = ["NODE_OPTIONS", "SSLKEYLOGFILE", "DENO_PERMISSION_BROKER_PATH"];

/** Paths that no daemon needs. One of them readable means that the flags are too wide. */
const PROBES = ["/", "/etc/passwd", "/proc/self/environ", "/root", "/home", "/Users"];

/** Runs every check, and removes proxy variables. Throws `internal` that says what to change. */
export function guardEnvironment(): void {
  for (const name of PROXY_VARIABLES) {
    Deno.env.delete(name);
    Deno.env.delete(name.toLowerCase());
  }
  for (const name of REFUSED_VARIABLES) {
    if (Deno.env.get(name) !== undefined) {
      throw refused(`the variable ${name} is set. Start it with a clean environment`);
    }
  }
  if (!isAtLeast(Deno.version.deno, DENO_FLOOR)) {
    throw refused(`Deno ${Deno.version.deno} is older than ${DENO_FLOOR.join(".")}. Update it`);
  }
  const wide = overPrivileged();
  if (wide !== null) throw refused(`it has ${wide}. Use the flags of docs/permissions.md`);
}

/** Whether `version` is `floor` or newer. */
export function isAtLeast(version: string, floor: readonly [number, number, number]): boolean {
  const parts = version.split(/[.+-]/).map(Number);
  for (const [i, least] of floor.entries()) {
    const part = parts[i] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}

/** The first permission that is wider than declared, in words, or `null`. */
function overPrivileged(): string | null {
  const whole: Deno.PermissionDescriptor[] = [
    { name: "run" },
    { name: "ffi" },
    { name: "sys" },
    { name: "read" },
    { name: "write" },
    { name: "env" },
  ];
  for (const descriptor of whole) {
    if (granted(descriptor)) return `the whole permission "${descriptor.name}"`;
  }
  const read = PROBES.find((path) => granted({ name: "read", path }));
  if (read !== undefined) return `read permission for ${read}`;
  const write = PROBES.find((path) => granted({ name: "write", path }));
  if (write !== undefined) return `write permission for ${write}`;
  return null;
}

function granted(descriptor: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(descriptor).state === "granted";
}

function refused(why: string): CustosError {
  return new CustosError("internal", `The daemon did not start: ${why}, then start it again.`);
}
