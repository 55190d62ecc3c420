/** Starts the worker of a cell with exactly its permissions (DESIGN §3, §12). */

import { CustosError } from "@custos/core/errors";
import { hostScope } from "@custos/core/host_scope";
import type { Policy } from "@custos/core/policy";
import bundle from "./cell.bundle.js" with { type: "text" };

/** Whether the daemon runs in the `lan` profile. */
export interface CellProfile {
  lan: boolean;
}

/**
 * `host:port` of each origin, the whole reach of a cell. Throws `private_address` for an origin whose spelling is private
 * without both the `lan` profile and the policy's `private_network`, and for link-local and metadata addresses always.
 */
export function cellHosts(policy: Policy, profile: CellProfile): string[] {
  return policy.origins.map((origin) => {
    const { protocol, hostname, port } = new URL(origin);
    const scope = hostScope(hostname);
    if (scope === "forbidden" || (scope === "private" && !(profile.lan && policy.limits.private_network))) {
      const how = scope === "forbidden"
        ? "custos never connects to link-local, multicast or reserved addresses."
        : "It needs the daemon's lan profile and the policy's private_network.";
      throw new CustosError(
        "private_address",
        `custos:${policy.name} names ${origin}, a private address. ${how}`,
      );
    }
    return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
  });
}

/**
 * All that a cell may do: its hosts. Nothing is inherited from the daemon but its denials. Deno 2.9.6 does not obey
 * `import: false` for `import()` in a worker, so the bundle has none (tested) and the daemon runs with `--cached-only`.
 */
export function cellPermissions(hosts: string[]): Deno.PermissionOptionsObject {
  return {
    net: hosts,
    env: false,
    ffi: false,
    import: false,
    read: false,
    run: false,
    sys: false,
    write: false,
  };
}

let bundleUrl: string | null = null;

/** A worker that runs the checked-in bundle and may reach `hosts` and nothing else. */
export function startWorker(hosts: string[]): Worker {
  // a blob needs no read permission, also where the daemon itself comes from an https module
  bundleUrl ??= URL.createObjectURL(new Blob([bundle], { type: "application/javascript" }));
  return new Worker(bundleUrl, {
    type: "module",
    name: "custos cell",
    deno: { permissions: cellPermissions(hosts) },
  });
}
