/** Reading the audit log: leaves as canonical bytes, and the signed checkpoint that covers them (DESIGN §6.5). */

import { list, optional, pattern, type Schema, shape, text, whole } from "@custos/core/schema";
import { MAX_LOG_ENTRIES } from "./limits.ts";

/**
 * A leaf of at most 64 KiB as base64url. Only the form is checked here, and not that there is one spelling: whoever verifies
 * hashes the bytes, and a log has 100,000 of them.
 */
const LEAF = /^[A-Za-z0-9_-]{0,87382}$/;

const index = whole(0, Number.MAX_SAFE_INTEGER);

/** Params of `log.read`: entries from index `after` (0 when absent) on. */
export interface LogReadParams {
  after?: number;
  limit?: number;
}
/** Schema of {@link LogReadParams}. */
export const LOG_READ_PARAMS: Schema<LogReadParams> = shape<LogReadParams>({
  after: optional(index),
  limit: optional(whole(1, MAX_LOG_ENTRIES)),
});

/** One entry. */
export interface LogEntryView {
  index: number;
  /** Canonical bytes of the entry, base64url: the Merkle leaf. */
  leaf: string;
}

/** Result of `log.read`. The checkpoint covers exactly `size` entries. */
export interface LogReadResult {
  entries: LogEntryView[];
  size: number;
  /** C2SP signed note. */
  checkpoint: string;
  /** Verifier key of the note. */
  key: string;
}
/** Schema of {@link LogReadResult}. */
export const LOG_READ_RESULT: Schema<LogReadResult> = shape<LogReadResult>({
  entries: list(shape<LogEntryView>({ index, leaf: pattern(LEAF) }), MAX_LOG_ENTRIES),
  size: index,
  checkpoint: text(4_096),
  key: text(1_024),
});

/** Result of `log.checkpoint`. */
export interface LogCheckpointResult {
  checkpoint: string;
  key: string;
}
/** Schema of {@link LogCheckpointResult}. */
export const LOG_CHECKPOINT_RESULT: Schema<LogCheckpointResult> = shape<LogCheckpointResult>({
  checkpoint: text(4_096),
  key: text(1_024),
});
