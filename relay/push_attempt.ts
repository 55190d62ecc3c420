/** What a push service's answer means (RFC 8030 §8, B128). */

/**
 * - `sent`: the service took it.
 * - `gone`: the subscription is over; nobody will be reached by it again.
 * - `refused`: the service does not take this request, and will not take it later: wrong key, wrong contact, bad endpoint.
 * - `later`: try again after `pause_ms`; `null` where the service does not say.
 */
export type PushOutcome =
  | { kind: "sent" }
  | { kind: "gone" }
  | { kind: "refused"; status: number }
  | { kind: "later"; pause_ms: number | null };

/** Reads status and `Retry-After`. */
export function pushOutcome(status: number, retryAfter: string | null, now_ms: number): PushOutcome {
  if (status >= 200 && status < 300) return { kind: "sent" };
  if (status === 404 || status === 410) return { kind: "gone" };
  if (status === 408 || status === 429 || status >= 500) {
    return { kind: "later", pause_ms: pauseOf(retryAfter, now_ms) };
  }
  return { kind: "refused", status }; // a redirect too: it is not followed
}

function pauseOf(text: string | null, now_ms: number): number | null {
  if (text === null) return null;
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now_ms);
}
