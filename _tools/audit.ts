/**
 * Compares what a process used (`DENO_AUDIT_PERMISSIONS`, one JSON object a line) with what its flags declare. A test runs
 * the whole flow with `launch(…, {audit_file})` and looks at both lists (DESIGN §3).
 */

/** Where use and declaration differ. */
export interface AuditFindings {
  /** Uses that no flag covers, as `kind value`. The runtime refused them, or the flags are not the ones it ran with. */
  readonly undeclared: readonly string[];
  /** Kinds that a flag grants and that nothing used. */
  readonly unused: readonly string[];
}

interface Row {
  permission: string;
  value: string | null;
}

/**
 * Reads an audit file against a flag list. A variable that `--ignore-env` hides is not a use: the process saw nothing. A
 * row without a value is a worker being given less than its parent; its own uses have rows of their own.
 */
export function auditFindings(flags: readonly string[], audit: string): AuditFindings {
  const declared = new Map<string, readonly string[] | null>();
  for (const flag of flags) {
    const [, kind, list] = /^--allow-([a-z]+)(?:=(.*))?$/.exec(flag) ?? [];
    if (kind !== undefined) declared.set(kind, list === undefined ? null : list.split(","));
  }
  const undeclared = new Set<string>();
  const used = new Set<string>();
  for (const line of audit.split("\n").filter((text) => text !== "")) {
    const { permission, value } = JSON.parse(line) as Row;
    const allowed = declared.get(permission);
    if (value === null) {
      used.add(permission);
    } else if (allowed !== undefined && (allowed === null || covers(permission, allowed, value))) {
      used.add(permission);
    } else if (permission !== "env" || !flags.includes("--ignore-env")) {
      undeclared.add(`${permission} ${value}`);
    }
  }
  return {
    undeclared: [...undeclared].sort(),
    unused: [...declared.keys()].filter((kind) => !used.has(kind)).sort(),
  };
}

function covers(kind: string, allowed: readonly string[], value: string): boolean {
  if (kind === "read" || kind === "write") {
    return allowed.some((path) => value === path || value.startsWith(`${path}/`));
  }
  if (kind !== "net") return allowed.includes(value);
  const address = value.startsWith("unix:") ? value : hostAndPort(value);
  return allowed.some((item) =>
    item === address || (!item.startsWith("unix:") && address.startsWith(`${item}:`))
  );
}

/** `host:port` of a URL, or the value itself where it is one already. */
function hostAndPort(value: string): string {
  if (!value.includes("://")) return value;
  const { protocol, hostname, port } = new URL(value);
  return `${hostname}:${port !== "" ? port : /^(https|wss):$/.test(protocol) ? 443 : 80}`;
}
