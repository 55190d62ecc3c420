/** Entries of the audit log as sentences, for a person who looks back at a day. Every text of an agent is made safe. */

import type { AuditEvent, AuditLeaf } from "@custos/core/audit";
import { displayLine } from "@custos/core/display";

/** What an entry is about, to filter by. */
export type AuditKind = "asked" | "answered" | "sent" | "computer";

/** An entry as it is shown. */
export interface AuditLine {
  kind: AuditKind;
  text: string;
  /** Worth a second look: refused, failed or unknown. */
  odd: boolean;
}

const KINDS: Readonly<Record<AuditEvent, AuditKind>> = {
  daemon_started: "computer",
  daemon_stopped: "computer",
  pairing_begun: "computer",
  pairing_failed: "computer",
  device_added: "computer",
  request_created: "asked",
  request_refused: "asked",
  request_joined: "asked",
  card_sent: "asked",
  decision_refused: "answered",
  granted: "answered",
  denied: "answered",
  expired: "answered",
  withdrawn: "answered",
  secret_stored: "answered",
  send_started: "sent",
  send_finished: "sent",
  send_failed: "sent",
  outcome_unknown: "sent",
  scrubbed: "sent",
  grant_ended: "answered",
  locked: "computer",
  channel_refused: "computer",
};

const ODD: ReadonlySet<AuditEvent> = new Set<AuditEvent>([
  "pairing_failed",
  "request_refused",
  "decision_refused",
  "send_failed",
  "outcome_unknown",
  "channel_refused",
]);

/** The line of an entry. `deviceName` says how a person calls a device id. */
export function auditLine(leaf: AuditLeaf, deviceName: (id: string) => string): AuditLine {
  return { kind: KINDS[leaf.event], text: sentence(leaf, deviceName), odd: ODD.has(leaf.event) };
}

function sentence(leaf: AuditLeaf, deviceName: (id: string) => string): string {
  const by = leaf.device === undefined ? "" : ` on ${displayLine(deviceName(leaf.device), 40)}`;
  const why = leaf.why === undefined ? "" : ` (${displayLine(leaf.why.replaceAll("_", " "), 60)})`;
  const wanted = what(leaf);
  switch (leaf.event) {
    case "daemon_started":
      return "custos was started on the computer.";
    case "daemon_stopped":
      return "custos was stopped on the computer.";
    case "pairing_begun":
      return "A pairing was begun in the terminal.";
    case "pairing_failed":
      return `A pairing failed${why}.`;
    case "device_added":
      return `${
        leaf.device === undefined ? "A device" : displayLine(deviceName(leaf.device), 40)
      } was added.`;
    case "request_created":
      return `${who(leaf)} asked for ${wanted}.`;
    case "request_refused":
      return `${who(leaf)} wanted ${wanted}; nobody was asked${why}.`;
    case "request_joined":
      return "Another call joined a request that waited.";
    case "card_sent":
      return `The card was sent to ${
        leaf.device === undefined ? "a phone" : displayLine(deviceName(leaf.device), 40)
      }.`;
    case "decision_refused":
      return `An answer${by} was not accepted${why}.`;
    case "granted":
      return `Approved${by}: ${wanted}.`;
    case "denied":
      return leaf.why === "after_grant" ? `Taken back${by}: ${wanted}.` : `Denied${by}: ${wanted}.`;
    case "expired":
      return `Nobody answered in time: ${wanted}.`;
    case "withdrawn":
      return `Taken back by who asked${why}: ${wanted}.`;
    case "secret_stored":
      return `${leaf.handle ?? "A secret"} was stored.`;
    case "send_started":
      return `${wanted} was sent.`;
    case "send_finished":
      return `${wanted}: answered ${outcome(leaf)}.`;
    case "send_failed":
      return `${wanted} could not be sent${why}.`;
    case "outcome_unknown":
      return `${wanted} may have been sent; the answer was lost${why}.`;
    case "scrubbed":
      return (leaf.redactions ?? 1) === 1
        ? "The secret came back once, and was replaced."
        : `The secret came back ${leaf.redactions} times, and was replaced each time.`;
    case "grant_ended":
      return `A grant ended${why}.`;
    case "locked":
      return `Everything was locked${leaf.why === undefined ? "" : ` by ${displayLine(leaf.why, 60)}`}.`;
    case "channel_refused":
      return `A message for the computer was refused${why}.`;
  }
}

/** `200, 1.2 KB, 1 scrub`: what became of a request. */
export function outcome(leaf: AuditLeaf): string {
  const parts = [leaf.status === undefined ? "without a status" : String(leaf.status)];
  if (leaf.bytes !== undefined) parts.push(size(leaf.bytes));
  if ((leaf.redactions ?? 0) > 0) {
    parts.push(`${leaf.redactions} ${leaf.redactions === 1 ? "scrub" : "scrubs"}`);
  }
  return parts.join(", ");
}

function who({ agent }: AuditLeaf): string {
  return agent === undefined || agent === null
    ? "A phone, or an agent without a name,"
    : `“${displayLine(agent, 40)}”`;
}

function what({ handle, method, origin, path }: AuditLeaf): string {
  const secret = handle === undefined ? "a secret" : displayLine(handle, 70);
  if (method === undefined || origin === undefined) return secret;
  const host = origin.replace(/^https:\/\//, "");
  return `${displayLine(method, 16)} ${displayLine(host, 80)}${displayLine(path ?? "", 60)} with ${secret}`;
}

function size(count: number): string {
  if (count < 1_000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1_000).toFixed(1)} KB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}
