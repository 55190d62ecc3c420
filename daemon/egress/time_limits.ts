/** Time limits of one request. Timers of 2³¹ ms and more fire at once, so each limit has a range. */

import { CustosError } from "@custos/core/errors";

/** Milliseconds until the answer's headers are there, and until it is complete. Both count from the start (B77, B78). */
export interface TimeLimits {
  header_ms: number;
  total_ms: number;
}

/** Longest limit, in milliseconds: a day. */
export const MAX_LIMIT_MS = 86_400_000;

/** What applies where nothing is said: one minute for headers, a quarter of an hour in all. */
export const DEFAULT_LIMITS: TimeLimits = { header_ms: 60_000, total_ms: 900_000 };

/**
 * Limits with defaults filled in. While a large body goes up no headers can come, so `upload` leaves only the total limit.
 * Throws `bad_request` outside 1 ms to a day, or on anything but whole numbers.
 */
export function checkLimits(limits: Partial<TimeLimits>, upload = false): TimeLimits {
  const total_ms = limits.total_ms ?? DEFAULT_LIMITS.total_ms;
  const header_ms = limits.header_ms ?? (upload ? total_ms : Math.min(DEFAULT_LIMITS.header_ms, total_ms));
  for (const ms of [header_ms, total_ms]) {
    if (!Number.isInteger(ms) || ms < 1 || ms > MAX_LIMIT_MS) {
      throw new CustosError("bad_request", `A time limit must be 1 to ${MAX_LIMIT_MS} milliseconds.`);
    }
  }
  return { header_ms, total_ms };
}
