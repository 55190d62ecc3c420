/** Pairing a phone from the terminal: begin, watch, confirm with the first word shown on the phone (DESIGN §7). */

import { optional, type Schema, shape, text, timeMs, word } from "@custos/core/schema";
import { ID, LABEL, WAIT_MS } from "./common.ts";

/** Result of `pair.begin`. */
export interface PairBeginResult {
  pairing_id: string;
  /** The link that a phone opens. It holds a one-time secret, so it is shown to the human and nowhere else. */
  url: string;
  /** What the QR code holds: the same as `url`. */
  qr_text: string;
  expires_ms: number;
}
/** Schema of {@link PairBeginResult}. */
export const PAIR_BEGIN_RESULT: Schema<PairBeginResult> = shape<PairBeginResult>({
  pairing_id: ID,
  url: text(4_096, 1),
  qr_text: text(4_096, 1),
  expires_ms: timeMs,
});

/** Where a pairing stands: waiting for a phone, for the word, for the passkey, or over. */
export type PairState = "waiting" | "confirm" | "registering" | "done" | "failed";
const pairState: Schema<PairState> = word<PairState>("waiting", "confirm", "registering", "done", "failed");

/** Params of `pair.status`; with `wait_ms` it returns when the state changes, or after the wait. */
export interface PairStatusParams {
  pairing_id: string;
  wait_ms?: number;
}
/** Schema of {@link PairStatusParams}. */
export const PAIR_STATUS_PARAMS: Schema<PairStatusParams> = shape<PairStatusParams>({
  pairing_id: ID,
  wait_ms: optional(WAIT_MS),
});

/** Result of `pair.status`. */
export interface PairStatusResult {
  state: PairState;
  /** What the phone calls itself. */
  device_name?: string;
  /** Why it failed, for people. */
  reason?: string;
}
/** Schema of {@link PairStatusResult}. */
export const PAIR_STATUS_RESULT: Schema<PairStatusResult> = shape<PairStatusResult>({
  state: pairState,
  device_name: optional(LABEL),
  reason: optional(text(1_000)),
});

/** Params of `pair.confirm`. */
export interface PairConfirmParams {
  pairing_id: string;
  word: string;
}
/** Schema of {@link PairConfirmParams}. */
export const PAIR_CONFIRM_PARAMS: Schema<PairConfirmParams> = shape<PairConfirmParams>({
  pairing_id: ID,
  word: text(64, 1),
});

/** Result of `pair.confirm`; a wrong word is the error `pairing_refused`. */
export interface PairConfirmResult {
  state: PairState;
}
/** Schema of {@link PairConfirmResult}. */
export const PAIR_CONFIRM_RESULT: Schema<PairConfirmResult> = shape<PairConfirmResult>({ state: pairState });
