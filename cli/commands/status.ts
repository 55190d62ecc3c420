import { displaySafe } from "@custos/core/display";
import type { DaemonStatusResult } from "@custos/rpc/daemon_schemas";
import type { Command, Context } from "../command.ts";
import { ago, bold, count, duration, rows } from "../text.ts";

/** `custos status`. */
export const command: Command = {
  name: "status",
  usage: "",
  about: "Shows the daemon, its line to the relay, its phones, and what is pending and granted.",
  options: {},
  positionals: [0, 0],
  examples: [
    ["custos status", "is all well?"],
    ["custos status --json", "the same for programs"],
  ],
  async run(_given, { io, client, json, socket }) {
    const status = await client.call("daemon.status", {});
    await io.out(json ? `${JSON.stringify(status)}\n` : describeStatus(status, io, socket));
    return 0;
  },
};

function describeStatus(status: DaemonStatusResult, io: Context["io"], socket: string): string {
  const now = io.now();
  const relay = displaySafe(`${status.relay.state}, ${status.relay.url}`);
  const lines: [string, string][] = [
    ["relay", `${relay} (for ${duration(now - status.relay.since_ms)})`],
    ...phoneLines(status, now),
    ["pending", count(status.pending, "request")],
    ["granted", count(status.live_grants, "live grant")],
    ["log", count(status.audit.size, "entry", "entries")],
    ["state", displaySafe(`${status.state_dir} (profile ${status.profile})`)],
    ["socket", displaySafe(socket)],
  ];
  const title = displaySafe(`custos ${status.version} on ${status.name}`);
  const warning = status.locked || status.channels.some((channel) => channel.locked)
    ? "A channel is locked: two daemons used this name. Nothing can be approved through it.\n" +
      "If you did not restore or copy the state folder, somebody else has. Pair the phone again.\n"
    : "";
  return `${bold(title, io.colour)}, up for ${duration(now - status.started_ms)}\n${rows(lines)}${warning}`;
}

function phoneLines(status: DaemonStatusResult, now: number): [string, string][] {
  if (status.devices === 0) return [["phones", "none yet; pair one with: custos pair"]];
  if (status.channels.length === 0) return [["phones", String(status.devices)]];
  return status.channels.map((channel, at) => {
    const when = channel.last_seen_ms === null ? "not seen yet" : `seen ${ago(channel.last_seen_ms, now)}`;
    const text = `${displaySafe(channel.device)}, ${channel.locked ? "channel locked" : when}`;
    return [at === 0 ? "phones" : "", text];
  });
}
