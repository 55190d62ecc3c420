/** A card as the software phone shows it: the same fields for programs and for people, words computed by itself. */

import { displayLine, displaySafe } from "@custos/core/display";
import { type PhoneRecord, type StoredCard, verifyCard } from "@custos/pwa";

/** One card, flat. Fields that a type does not have are `null`. */
export interface ShownCard {
  request_id: string;
  fingerprint: string;
  type: string;
  status: string;
  /** What the agent calls itself. */
  agent: string | null;
  reason: string;
  handle: string | null;
  name: string | null;
  method: string | null;
  url: string | null;
  expires_ms: number;
  /** Why it cannot be approved (`CardRefusal`, or `held`); `null` where it can. */
  refused: string | null;
  by: string | null;
  why: string | null;
}

/** Shows a stored card. A card that is over is not verified any more: it offers nothing. */
export async function showCard(record: PhoneRecord<string>, card: StoredCard): Promise<ShownCard> {
  const { doc } = card.message;
  const verdict = card.status === "pending" ? await verifyCard(record, card.message) : null;
  const refused = verdict === null || verdict.ok ? null : verdict.why;
  return {
    request_id: doc.id,
    fingerprint: card.words,
    type: doc.type,
    status: card.status,
    agent: doc.agent.name ?? doc.agent.client?.name ?? null,
    reason: doc.reason,
    handle: "handle" in doc ? doc.handle : null,
    name: "name" in doc ? doc.name : null,
    method: doc.type === "http" ? doc.http.method : null,
    url: doc.type === "http" ? doc.http.url : null,
    expires_ms: doc.expires_ms,
    refused: card.held === null ? refused : "held",
    by: card.by,
    why: card.error?.message ?? card.reason,
  };
}

/** One line of JSON in plain ASCII: an agent's bidi or control character cannot reach a terminal through it (B103, B104). */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** A card for people, a few lines, each value on a line of its own. */
export function cardText(card: ShownCard): string {
  const what = card.method === null
    ? `${card.type} ${card.handle ?? card.name ?? ""}`
    : `${card.method} ${displayLine(card.url ?? "", 300)}\n  with     ${card.handle}`;
  const lines = [
    `${card.fingerprint}   ${card.status}`,
    `  request  ${card.request_id}`,
    `  wants    ${what}`,
    `  agent    calls itself ${card.agent === null ? "nothing" : `"${displaySafe(card.agent)}"`}`,
    `  reason   "${displayLine(card.reason, 300)}"`,
  ];
  if (card.refused !== null) lines.push(`  refused  ${card.refused}: it can only be denied`);
  if (card.by !== null) lines.push(`  by       ${displayLine(card.by, 64)}`);
  if (card.why !== null) lines.push(`  why      ${displayLine(card.why, 300)}`);
  return lines.join("\n");
}
