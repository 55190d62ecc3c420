/** Entries of the audit log as sentences. */

import { displayLine, displaySafe } from "@custos/core/display";
import type { AuditEvent, AuditLeaf } from "@custos/core/audit";
import { faint, number, quoted, stamp } from "./text.ts";

/**
 * An entry in one line, and a second where it is about something:
 *
 *     2026-11-30 21:02:41  #12  "claude" asked  (rocket velvet oasis)
 *         POST https://api.github.com/repos with custos:github
 */
export function logLine(index: number, leaf: AuditLeaf, columns: number, colour: boolean): string {
  const words = leaf.fingerprint === undefined ? "" : `  (${displaySafe(leaf.fingerprint)})`;
  const first = `${stamp(leaf.time_ms)}  #${index}  ${sentence(leaf)}${words}\n`;
  const second = subject(leaf, columns);
  return second === "" ? first : `${first}    ${faint(second, colour)}\n`;
}

/** What happened, in words that are safe to show. */
export function sentence(leaf: AuditLeaf): string {
  return SENTENCES[leaf.event](leaf);
}

type Sentence = (leaf: AuditLeaf) => string;

/** One for each event, so that a new event does not compile without its sentence. */
const SENTENCES: Readonly<Record<AuditEvent, Sentence>> = {
  daemon_started: () => "the daemon started",
  daemon_stopped: () => "the daemon stopped",
  pairing_begun: () => "a pairing began",
  pairing_failed: (leaf) => `a pairing failed${why(leaf)}`,
  device_added: (leaf) => `${device(leaf)} was paired`,
  request_created: (leaf) => `${agent(leaf)} asked`,
  request_refused: (leaf) => `${agent(leaf)} was refused${why(leaf)}`,
  request_joined: (leaf) => `${agent(leaf)} asked again`,
  card_sent: () => "the card left for the phone",
  decision_refused: (leaf) => `an answer from ${device(leaf)} was refused${why(leaf)}`,
  granted: (leaf) => `${device(leaf)} granted`,
  denied: (leaf) => `${device(leaf)} denied`,
  expired: () => "nobody answered in time",
  withdrawn: (leaf) => `withdrawn${why(leaf)}`,
  secret_stored: (leaf) => `${displaySafe(leaf.handle ?? "a secret")} was stored`,
  send_started: () => "sending",
  send_finished: (leaf) => `answered ${leaf.status ?? ""}${size(leaf)}`,
  send_failed: (leaf) => `failed${why(leaf)}`,
  outcome_unknown: (leaf) => `the outcome is not known${why(leaf)}`,
  scrubbed: (leaf) => `the secret was taken out of the answer (${number(leaf.redactions ?? 0)})`,
  grant_ended: (leaf) => `a grant of ${displaySafe(leaf.handle ?? "a secret")} ended${why(leaf)}`,
  locked: (leaf) => `locked${why(leaf)}`,
  channel_refused: (leaf) => `a message from ${device(leaf)} was refused${why(leaf)}`,
};

function agent(leaf: AuditLeaf): string {
  return leaf.agent === undefined || leaf.agent === null ? "somebody without a name" : quoted(leaf.agent);
}

function device(leaf: AuditLeaf): string {
  return displayLine(leaf.device ?? "the phone", 40);
}

/** Method, target and handle, as far as the entry says; cut in the middle to fit one line. */
function subject(leaf: AuditLeaf, columns: number): string {
  const handle = leaf.handle === undefined ? "" : `with ${displaySafe(leaf.handle)}`;
  const room = Math.max(30, columns - handle.length - 5);
  const call = displayLine(`${leaf.method ?? ""} ${leaf.origin ?? ""}${leaf.path ?? ""}`.trim(), room);
  return `${call} ${handle}`.trim();
}

function why(leaf: AuditLeaf): string {
  return leaf.why === undefined ? "" : `: ${displaySafe(leaf.why).replaceAll("_", " ")}`;
}

function size(leaf: AuditLeaf): string {
  return leaf.bytes === undefined ? "" : `, ${number(leaf.bytes)} bytes`;
}
