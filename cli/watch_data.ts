/** What `custos watch` shows, by calls that are cheap to repeat. */

import { type AuditLeaf, readLeaf } from "@custos/core/audit";
import { fromBase64url } from "@custos/core/bytes";
import type { Client } from "@custos/rpc/client";
import type { DaemonStatusResult } from "@custos/rpc/daemon_schemas";
import type { GrantView } from "@custos/rpc/inventory_schemas";
import type { RequestView } from "@custos/rpc/request_schemas";

/** An entry of the log with its number. */
export interface LogItem {
  index: number;
  leaf: AuditLeaf;
}

/** One look at the daemon. */
export interface Snapshot {
  status: DaemonStatusResult;
  /** What waits for the phone, the newest first. */
  pending: RequestView[];
  grants: GrantView[];
  /** The newest last. */
  recent: LogItem[];
  /** Names of devices by their ids, which is what the log holds. */
  names: Readonly<Record<string, string>>;
}

/** How many entries of the log are kept: more than fit on a large terminal. */
const RECENT = 60;

/** Looks once. The log is only read where it has grown since `before`. */
export async function look(client: Client, before: Snapshot | null): Promise<Snapshot> {
  const [status, requests, grants] = await Promise.all([
    client.call("daemon.status", {}),
    client.call("requests.list", { status: "pending" }),
    client.call("grants.list", {}),
  ]);
  const same = before !== null && before.status.daemon === status.daemon &&
    before.status.audit.size === status.audit.size;
  return {
    status,
    pending: requests.requests.toSorted((a, b) => b.created_ms - a.created_ms),
    grants: grants.grants,
    recent: same ? before.recent : await recent(client, status.audit.size),
    names: same ? before.names : await names(client),
  };
}

async function names(client: Client): Promise<Record<string, string>> {
  const { devices } = await client.call("devices.list", {});
  return Object.fromEntries(devices.map(({ device, name }) => [device, name]));
}

async function recent(client: Client, size: number): Promise<LogItem[]> {
  const after = Math.max(0, size - RECENT);
  const { entries } = await client.call("log.read", { after, limit: RECENT });
  return entries.map(({ index, leaf }) => ({ index, leaf: readLeaf(fromBase64url(leaf)!) }));
}
