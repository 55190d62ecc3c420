/** The daemon about itself: `daemon.status` and `daemon.lock`. */

import { flag, list, nullable, type Schema, shape, text, timeMs, whole, word } from "@custos/core/schema";
import { ID, LABEL } from "./common.ts";

/** The line to the relay. */
export interface RelayView {
  url: string;
  state: "connected" | "connecting" | "refused" | "offline";
  since_ms: number;
}

/** The channel to one device. */
export interface ChannelView {
  device: string;
  /** Two daemons used one name; the channel takes nothing until it is paired again (DESIGN §7). */
  locked: boolean;
  last_seen_ms: number | null;
}

/** Result of `daemon.status`. */
export interface DaemonStatusResult {
  version: string;
  /** The daemon's id, drawn at init. */
  daemon: string;
  /** The name given to it at init. */
  name: string;
  state_dir: string;
  profile: "public" | "lan";
  started_ms: number;
  devices: number;
  pending: number;
  live_grants: number;
  relay: RelayView;
  locked: boolean;
  channels: ChannelView[];
  audit: { size: number };
}

const count = whole(0, Number.MAX_SAFE_INTEGER);

/** Schema of {@link DaemonStatusResult}. */
export const DAEMON_STATUS_RESULT: Schema<DaemonStatusResult> = shape<DaemonStatusResult>({
  version: text(64, 1),
  daemon: ID,
  name: LABEL,
  state_dir: text(4_096, 1),
  profile: word("public", "lan"),
  started_ms: timeMs,
  devices: count,
  pending: count,
  live_grants: count,
  relay: shape<RelayView>({
    url: text(2_048),
    state: word("connected", "connecting", "refused", "offline"),
    since_ms: timeMs,
  }),
  locked: flag,
  channels: list(
    shape<ChannelView>({ device: text(200, 1), locked: flag, last_seen_ms: nullable(timeMs) }),
    1_000,
  ),
  audit: shape<{ size: number }>({ size: count }),
});

/** Result of `daemon.lock`: grants ended and cells terminated. */
export interface DaemonLockResult {
  revoked: number;
  cells: number;
}
/** Schema of {@link DaemonLockResult}. */
export const DAEMON_LOCK_RESULT: Schema<DaemonLockResult> = shape<DaemonLockResult>({
  revoked: count,
  cells: count,
});
