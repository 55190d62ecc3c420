/**
 * How much a person may be asked (DESIGN §5.2, B148). The daemon refuses by these rules; the phone holds back a daemon
 * that misbehaves by the same ones. Names of agents are self-declared, so the totals hold by themselves.
 */

import type { RequestDoc } from "./request.ts";

/** The limits. Cards are counted in a sliding hour. */
export const FATIGUE = {
  pending_per_agent: 8,
  pending_total: 32,
  cards_per_hour_per_agent: 20,
  cards_per_hour_total: 60,
  hour_ms: 3_600_000,
  cool_down_ms: 600_000,
  cool_down_max_ms: 86_400_000,
} as const;

/** What is known when a request is about to become a card. */
export interface FatigueCounts {
  pending_of_agent: number;
  pending_total: number;
  cards_last_hour_of_agent: number;
  cards_last_hour_total: number;
  /** When the oldest card that counts leaves the sliding hour. */
  hour_frees_ms: number;
}

/** The outcome. Refusal comes first. */
export type FatigueVerdict = { ok: false; until_ms: number | null; why: string } | { ok: true };

/** Whether one more card may be shown. */
export function mayAsk(counts: FatigueCounts): FatigueVerdict {
  if (counts.pending_of_agent >= FATIGUE.pending_per_agent) {
    return {
      ok: false,
      until_ms: null,
      why: `${FATIGUE.pending_per_agent} requests of this agent wait already`,
    };
  }
  if (counts.pending_total >= FATIGUE.pending_total) {
    return { ok: false, until_ms: null, why: `${FATIGUE.pending_total} requests wait already` };
  }
  if (counts.cards_last_hour_of_agent >= FATIGUE.cards_per_hour_per_agent) {
    const why = `this agent asked ${FATIGUE.cards_per_hour_per_agent} times within an hour`;
    return { ok: false, until_ms: counts.hour_frees_ms, why };
  }
  if (counts.cards_last_hour_total >= FATIGUE.cards_per_hour_total) {
    const why = `the person was asked ${FATIGUE.cards_per_hour_total} times within an hour`;
    return { ok: false, until_ms: counts.hour_frees_ms, why };
  }
  return { ok: true };
}

/** Length of the cool-down after the `count`-th denial in a row (1 is the first), in milliseconds: doubles up to 24 h. */
export function coolDownMs(count: number): number {
  const doublings = Math.min(Math.max(count, 1) - 1, 20);
  return Math.min(FATIGUE.cool_down_ms * 2 ** doublings, FATIGUE.cool_down_max_ms);
}

/**
 * What a denial cools down: type, handle or name, and for http method, origin and path. Not the agent's name, query,
 * headers, body or reason, which cost nothing to vary. Letter case, repeated slashes and escapes of letters that need none
 * (RFC 3986 §6.2.2.2) do not make another path.
 */
export function coolDownKey(doc: RequestDoc): string {
  const what = "handle" in doc ? doc.handle : "name" in doc ? `custos:${doc.name}` : "";
  if (doc.type !== "http") return JSON.stringify([doc.type, what]);
  const url = new URL(doc.http.url);
  const plain = url.pathname.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(parseInt(escape.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : escape;
  });
  const path = plain.toLowerCase().replace(/\/+/g, "/").replace(/(.)\/$/, "$1");
  return JSON.stringify([doc.type, what, doc.http.method, url.origin, path]);
}
