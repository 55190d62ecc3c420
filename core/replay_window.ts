/**
 * Each sequence is accepted once: the highest seen and a window of 64 below it, as in DTLS (RFC 9147 §4.5.1). The window
 * is stored before the message is acted on (B132).
 */

/** Serialisable state of a window. `seen` has bit `i` set when `highest - i` was accepted, as hexadecimal. */
export interface ReplayWindow {
  highest: number;
  seen: string;
}

/** How far below the highest a sequence may still come. */
export const WINDOW_SIZE = 64;

/** The window of a new session. Sequences begin at 1. */
export const NEW_WINDOW: ReplayWindow = { highest: 0, seen: "0" };

/** The window after `sequence`, or `null` if it came before or is too old. */
export function acceptSequence(window: ReplayWindow, sequence: number): ReplayWindow | null {
  if (!Number.isSafeInteger(sequence) || sequence < 1) return null;
  const seen = BigInt(`0x${window.seen}`);
  if (sequence > window.highest) {
    const shift = BigInt(Math.min(sequence - window.highest, WINDOW_SIZE));
    const mask = (1n << BigInt(WINDOW_SIZE)) - 1n;
    return { highest: sequence, seen: ((seen << shift | 1n) & mask).toString(16) };
  }
  const behind = window.highest - sequence;
  if (behind >= WINDOW_SIZE) return null;
  const bit = 1n << BigInt(behind);
  return (seen & bit) === 0n ? { highest: window.highest, seen: (seen | bit).toString(16) } : null;
}
