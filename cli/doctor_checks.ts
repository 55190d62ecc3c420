/**
 * What `custos doctor` looks at. Each check is a line: fine, a problem with what to do, or a note. It sees what the socket
 * shows and no more: the CLI may open nothing else (DESIGN §3), and says so.
 */

import { displaySafe } from "@custos/core/display";
import type { Client } from "@custos/rpc/client";
import type { DaemonStatusResult } from "@custos/rpc/daemon_schemas";
import { RpcError } from "@custos/rpc/rpc_error";
import { ago, count, duration, stamp } from "./text.ts";

/** One line. A `note` is no fault. */
export interface Check {
  name: string;
  level: "ok" | "problem" | "note";
  says: string;
  /** What to do about it. */
  do?: string;
}

/** What it is told about this process. */
export interface Self {
  socket: string;
  version: string;
  deno: string;
  now: number;
  /** What is at the socket's path: `null` nothing, `unknown` where it may not be looked at. */
  file: "socket" | "other" | "unknown" | null;
}

/** Oldest Deno whose permissions for unix sockets and deny rules hold (ADR 0002); the daemon itself refuses older ones. */
export const DENO_FLOOR = "2.9.5";

/** The relay may take this long to answer before it counts as a fault. */
const CONNECTING_MS = 15_000;
/** A phone that was not seen for so long may have lost its storage (B126). */
const UNSEEN_MS = 7 * 86_400_000;
/** Clocks of one machine do not go back by more than this without somebody setting them. */
const CLOCK_MS = 5_000;

/** What the socket cannot show, with who can. */
export const NOT_SEEN: readonly string[] = [
  "modes of the state folder and flags of the daemon: the daemon checks both and does not start where they are wrong",
  "the phone app's origin: custos-verify-pwa ORIGIN compares what it serves",
  "whether this machine's clock is right: the phone says so where its own differs",
  "whether phones get pushes: the phone's settings say so",
];

/** Looks at everything, in the order in which one thing needs the other. */
export async function examine(client: Client, self: Self): Promise<Check[]> {
  const first = [denoCheck(self), ...socketCheck(self)];
  let status: DaemonStatusResult;
  try {
    status = await client.call("daemon.status", {});
  } catch (error) {
    return [...first, daemonFault(RpcError.from(error), self)];
  }
  return [
    ...first,
    { name: "daemon", level: "ok", says: `answers, up for ${duration(self.now - status.started_ms)}` },
    versionCheck(status, self),
    relayCheck(status, self),
    ...await phoneChecks(client, status, self),
    lockCheck(status),
    profileCheck(status),
    ...await requestChecks(client),
    await clockCheck(client, status, self),
  ];
}

function denoCheck({ deno }: Self): Check {
  const old = compare(deno, DENO_FLOOR) < 0;
  return old
    ? {
      name: "deno",
      level: "problem",
      says: `this command runs on Deno ${deno}`,
      do: `Update to ${DENO_FLOOR} or newer, then install custos again.`,
    }
    : {
      name: "deno",
      level: "ok",
      says: `${deno}, and the daemon does not start on one older than ${DENO_FLOOR}`,
    };
}

function socketCheck({ socket, file }: Self): Check[] {
  const path = displaySafe(socket);
  const name = "socket";
  if (file === "socket") return [{ name, level: "ok", says: path }];
  if (file === "unknown") {
    return [{
      name,
      level: "problem",
      says: `this command may not open ${path}: it was started or installed for another socket`,
      do:
        "Leave --socket, CUSTOS_SOCKET and CUSTOS_STATE out, or install for this one: deno task install --state DIR",
    }];
  }
  const says = file === null ? `there is nothing at ${path}` : `${path} is not a socket`;
  return [{
    name,
    level: "problem",
    says,
    do: "Start the daemon: custos-daemon, its service, or deno task start.",
  }];
}

function daemonFault(error: RpcError, { file }: Self): Check {
  const says = displaySafe(error.message);
  if (error.kind !== "daemon_unreachable") {
    return {
      name: "daemon",
      level: "problem",
      says,
      do: "It may be of another version: stop it, and start the one of this installation.",
    };
  }
  return {
    name: "daemon",
    level: "problem",
    says: file === "socket" ? "nobody answers at the socket: the daemon was killed or hangs" : "not reached",
    do: file === "socket"
      ? "Start it again; it removes the socket that was left behind."
      : "See the line above.",
  };
}

function versionCheck({ version }: DaemonStatusResult, self: Self): Check {
  const name = "version";
  if (version === self.version) {
    return { name, level: "ok", says: `${displaySafe(version)}, as this command` };
  }
  return {
    name,
    level: "problem",
    says: `the daemon is ${displaySafe(version)} and this command is ${self.version}`,
    do: "Stop the daemon and start it again. If it stays so, install again: deno task install",
  };
}

function relayCheck({ relay }: DaemonStatusResult, { now }: Self): Check {
  const since = duration(now - relay.since_ms);
  const url = displaySafe(relay.url);
  const name = "relay";
  if (relay.state === "connected") return { name, level: "ok", says: `${url}, connected for ${since}` };
  if (relay.state === "connecting" && now - relay.since_ms < CONNECTING_MS) {
    return { name, level: "note", says: `${url}, connecting; ask again in a moment` };
  }
  if (relay.state === "refused") {
    return {
      name,
      level: "problem",
      says: `${url} refuses the daemon, for ${since}`,
      do: "Is it a custos relay, and does it ask for an invite? Its own log says why.",
    };
  }
  return {
    name,
    level: "problem",
    says: `${url} is not reached, for ${since}; no card gets to the phone`,
    do: "Is it running (custos-relay)? Is the address right, and reachable under the daemon's profile?",
  };
}

async function phoneChecks(client: Client, status: DaemonStatusResult, { now }: Self): Promise<Check[]> {
  const { devices, channels } = status;
  const name = "phones";
  if (devices === 0) {
    return [{
      name,
      level: "problem",
      says: "no phone is paired, so nobody can approve",
      do: "Pair one: custos pair",
    }];
  }
  if (channels.length === 0) {
    return [{ name, level: "note", says: `${count(devices, "phone")}, none has a channel yet` }];
  }
  const known = new Map(
    (await client.call("devices.list", {})).devices.map((item) => [item.device, item.name]),
  );
  return channels.map(({ device, locked, last_seen_ms }) => {
    const who = displaySafe(known.get(device) ?? device);
    if (locked) {
      return {
        name,
        level: "problem",
        says: `the channel to ${who} is locked: two daemons used one name`,
        do: "If you did not copy or restore the state folder, somebody else has. Pair the phone again.",
      };
    }
    if (last_seen_ms === null) {
      return {
        name,
        level: "problem",
        says: `${who} was not seen since it was paired`,
        do: "Open the app on it.",
      };
    }
    const says = `${who}, seen ${ago(last_seen_ms, now)}`;
    return now - last_seen_ms < UNSEEN_MS ? { name, level: "ok", says } : {
      name,
      level: "problem",
      says,
      do:
        "Open the app on it. Some phones delete the storage of an app that is not used; if it asks, pair it again.",
    };
  });
}

function lockCheck({ locked }: DaemonStatusResult): Check {
  return locked
    ? {
      name: "lock",
      level: "problem",
      says: "the daemon is locked: two daemons used its name",
      do: "Look at custos log, then pair the phone again.",
    }
    : { name: "lock", level: "ok", says: "not locked" };
}

function profileCheck({ profile }: DaemonStatusResult): Check {
  return profile === "public"
    ? { name: "profile", level: "ok", says: "public: no address of a private network can be reached" }
    : {
      name: "profile",
      level: "note",
      says: "lan: a secret whose policy says so may go to this machine and private networks",
    };
}

async function requestChecks(client: Client): Promise<Check[]> {
  const { requests } = await client.call("requests.list", { status: "pending" });
  const stuck = requests.filter(({ delivery }) => delivery !== "sent").length;
  if (stuck === 0) {
    return [{ name: "requests", level: "ok", says: `${count(requests.length, "request")} waiting` }];
  }
  return [{
    name: "requests",
    level: "problem",
    says: `${count(stuck, "card")} did not leave for the phone`,
    do: "They go when the relay is reached, if that is before they expire.",
  }];
}

/** The newest entry of the log and the daemon's start were written by this machine's clock: neither can be in the future. */
async function clockCheck(client: Client, status: DaemonStatusResult, { now }: Self): Promise<Check> {
  const { readLeaf } = await import("@custos/core/audit");
  const { fromBase64url } = await import("@custos/core/bytes");
  const size = status.audit.size;
  const { entries } = await client.call("log.read", { after: Math.max(0, size - 1), limit: 1 });
  const last = entries.length === 0 ? 0 : readLeaf(fromBase64url(entries[0]!.leaf)!).time_ms;
  const newest = Math.max(last, status.started_ms);
  return newest > now + CLOCK_MS
    ? {
      name: "clock",
      level: "problem",
      says: `this machine's clock went back: the log has an entry of ${stamp(newest)}`,
      do: "Set the clock. Requests and grants expire by it.",
    }
    : { name: "clock", level: "ok", says: `${stamp(now)}, and nothing in the log is newer` };
}

/** Compares two versions by their numbers. */
function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split(/[.+-]/).map(Number));
  for (const at of [0, 1, 2]) {
    const difference = (left![at] ?? 0) - (right![at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
