/** Grants, requests and secrets as lines for people. Every text of an agent or a phone goes through `displaySafe`. */

import { displayLine, displaySafe } from "@custos/core/display";
import type { GrantView, HandleView } from "@custos/rpc/inventory_schemas";
import type { AgentView, Delivery, RequestStatus } from "@custos/rpc/common";
import type { RequestView } from "@custos/rpc/request_schemas";
import { ago, bold, count, duration, faint, number, quoted } from "./text.ts";

/** The most uses of a grant (`grants.list`). */
const MAX_USES = 1_000_000;

/** `GET POST /repos/, 98 of 100 uses left, 14 min left`. */
export function grantLine(grant: GrantView, now: number): string {
  const where = grant.path ?? `${grant.path_prefix ?? "/"} and below`;
  const { max_uses, uses_left } = grant;
  const uses = max_uses === 1 ? "once" : `${number(uses_left)} of ${number(max_uses)} uses`;
  const time = grant.ended ? "ended" : `${duration(grant.expires_ms - now)} left`;
  // the most that can be granted is what a person gets who set no number: only the time counts then
  const limits = max_uses === MAX_USES ? [time] : [uses, time];
  return displaySafe([`${grant.methods.join(" ")} ${where}`, ...limits].join(", "));
}

/** Where a secret goes in a request. */
export function placementLine(placement: HandleView["placement"]): string {
  const name = displaySafe(placement.name ?? "");
  switch (placement.kind) {
    case "bearer":
      return "Bearer token";
    case "basic":
      return "Basic password";
    case "header":
      return `header ${name}`;
    case "query":
      return `query parameter ${name}`;
  }
}

/** What became of a request, in words. */
export function statusLine(status: RequestStatus, reason?: string): string {
  const words: Record<RequestStatus, string> = {
    pending: "waits for the phone",
    granted: "granted",
    denied: "denied",
    expired: "expired without an answer",
    withdrawn: "withdrawn",
    delivered: "delivered",
  };
  const why = reason === undefined ? "" : ` (${displaySafe(reason).replaceAll("_", " ")})`;
  return words[status] + why;
}

/** Said where the relay has not taken the card, so that nobody waits for a phone that knows nothing. */
export function deliveryNote(delivery: Delivery): string {
  return delivery === "sent" ? "" : "The card has not left for the phone yet: the relay cannot be reached.";
}

/** `claude, which calls itself so` and the MCP client; both self-declared. */
export function agentLine(agent: AgentView): string {
  const client = agent.client === null ? null : `${agent.client.name} ${agent.client.version}`;
  const name = agent.name ?? client;
  if (name === null) return "somebody without a name";
  return `calls itself ${quoted(name)}` +
    (agent.name !== null && client !== null ? ` in ${quoted(client)}` : "");
}

/** The exit code of what became of a request: 0 granted, 3 not answered yet, 4 no. */
export function statusExit(status: RequestStatus): number {
  if (status === "granted" || status === "delivered") return 0;
  return status === "pending" ? 3 : 4;
}

/** A request in three or four lines. */
export function requestLines(request: RequestView, now: number, columns: number, colour: boolean): string {
  const what = request.handle ?? request.name ?? "";
  const who = request.decided_by === undefined ? "" : ` by ${quoted(request.decided_by)}`;
  const times = request.status === "pending"
    ? `asked ${ago(request.created_ms, now)}, expires in ${duration(request.expires_ms - now)}`
    : `asked ${ago(request.created_ms, now)}`;
  const url = request.url === undefined
    ? ""
    : `  ${displayLine(`${request.method ?? ""} ${request.url}`, Math.max(40, columns - 2))}\n`;
  const note = request.status === "pending" ? deliveryNote(request.delivery) : "";
  return `${bold(request.fingerprint, colour)}  ${statusLine(request.status)}${who}\n` +
    `  ${request.type} ${displaySafe(what)}, ${times}\n` + url +
    `  ${agentLine(request.agent)}\n` +
    `  why: ${displayLine(quoted(request.reason), Math.max(40, columns - 7))}\n` +
    (note === "" ? "" : `  ${note}\n`) +
    `  ${faint(request.request_id, colour)}\n`;
}

/** A secret in a few lines: where it may go, how, and what is granted now. */
export function handleLines(handle: HandleView, now: number, colour: boolean): string {
  const width = Math.max(...handle.rules.map((rule) => rule.methods.join(" ").length), 0);
  const rules = handle.rules.map((rule) =>
    displaySafe(`${rule.methods.join(" ").padEnd(width)}  ${rule.path_prefix}`)
  );
  const grants = handle.live_grants.map((grant) => grantLine(grant, now));
  const lines = (label: string, texts: string[]) =>
    texts.map((text, at) => `  ${(at === 0 ? label : "").padEnd(9)} ${text}\n`).join("");
  return `${bold(displaySafe(handle.handle), colour)}\n` +
    lines("goes to", handle.origins.map(displaySafe)) +
    lines("rules", rules) +
    lines("placed as", [placementLine(handle.placement)]) +
    lines("at most", [
      `${duration(handle.limits.max_seconds * 1_000)} a grant` +
      (handle.limits.private_network ? ", private network allowed" : ""),
    ]) +
    lines("granted", grants.length > 0 ? grants : ["nothing now"]);
}

/** `2 grants` with the verb that fits. */
export function ended(revoked: number): string {
  return revoked === 0 ? "Nothing was granted, so nothing had to end." : `Ended ${count(revoked, "grant")}.`;
}
