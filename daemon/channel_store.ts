/** Channels as they are stored: one a device. The root key is on this disk; what it can and cannot do is in SECURITY.md. */

import type { Bytes } from "@custos/core/bytes";
import type { DaemonChannel } from "@custos/core/channel_daemon";
import type { MailboxKeys } from "@custos/core/pairing";
import type { Database, Row } from "./database.ts";

/** A stored channel. */
export interface StoredChannel {
  device_id: string;
  state: DaemonChannel<Bytes>;
  to_daemon: MailboxKeys;
  to_phone: MailboxKeys;
  cursor: number;
  last_seen_ms: number | null;
}

/** The store. */
export class ChannelStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Adds the channel of a device, in the caller's transaction; a device has one. `signCount` is of its registration. */
  insert(channel: StoredChannel, signCount: number): void {
    const { device_id, state, to_daemon, to_phone, cursor } = channel;
    this.#db.run(
      "INSERT INTO channels (device_id, channel, generation, root, next, offered, to_daemon, to_phone, cursor, " +
        "sign_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      device_id,
      state.channel,
      state.generation,
      state.root,
      state.next,
      JSON.stringify(state.offered ?? []),
      JSON.stringify(to_daemon),
      JSON.stringify(to_phone),
      cursor,
      signCount,
    );
  }

  /** All channels. */
  all(): StoredChannel[] {
    return this.#db.all("SELECT * FROM channels").map(read);
  }

  /** Stores a channel's handshake state. The old root is gone from the row once the new one proved itself. */
  saveState(deviceId: string, state: DaemonChannel<Bytes>): void {
    this.#db.run(
      "UPDATE channels SET generation = ?, root = ?, next = ?, offered = ? WHERE device_id = ?",
      state.generation,
      state.root,
      state.next,
      JSON.stringify(state.offered ?? []),
      deviceId,
    );
    this.#db.forgetHistory();
  }

  /** Stores how far the mailbox was read. */
  saveCursor(deviceId: string, cursor: number): void {
    this.#db.run("UPDATE channels SET cursor = ? WHERE device_id = ?", cursor, deviceId);
  }

  /** Notes that the phone was heard of. */
  seen(deviceId: string, nowMs: number): void {
    this.#db.run("UPDATE channels SET last_seen_ms = ? WHERE device_id = ?", nowMs, deviceId);
  }
}

function read(row: Row): StoredChannel {
  const next = row["next"];
  return {
    device_id: String(row["device_id"]),
    state: {
      channel: String(row["channel"]),
      generation: Number(row["generation"]),
      root: Uint8Array.from(row["root"] as Uint8Array),
      next: next === null ? null : Uint8Array.from(next as Uint8Array),
      offered: JSON.parse(String(row["offered"])) as string[],
    },
    to_daemon: JSON.parse(String(row["to_daemon"])) as MailboxKeys,
    to_phone: JSON.parse(String(row["to_phone"])) as MailboxKeys,
    cursor: Number(row["cursor"]),
    last_seen_ms: row["last_seen_ms"] === null ? null : Number(row["last_seen_ms"]),
  };
}
