/**
 * What a phone stores of one daemon, and how (DESIGN §6.2, §7). Everything is plain data but for kept keys `K`, so a
 * browser can put it into IndexedDB and a test phone into a file.
 *
 * Never stored: a PRF output, a seed or identity, a file key, the value of a secret, the recovery sheet. What a decision
 * in the outbox carries of them is sealed to somebody else already.
 */

import type { LogHead } from "@custos/core/approval";
import type { AuditLeaf } from "@custos/core/audit";
import type { PhoneChannel } from "@custos/core/channel_phone";
import type { DaemonMessage, LiveGrant, PhoneMessage, RequestStatus } from "@custos/core/messages";
import type { MerkleFrontier } from "@custos/core/merkle";
import type { MailboxKeys } from "@custos/core/pairing";
import type { Policy } from "@custos/core/policy";
import type { DeviceRecord, EntryRecord } from "@custos/core/policy_entry";
import type { LogState } from "@custos/core/policy_log";
import { CustosError } from "@custos/core/errors";

/** A card as it came. */
export type CardMessage = Extract<DaemonMessage, { t: "card" }>;

/** A card in the store. `over` is a card that the daemon no longer names, without saying how it ended. */
export interface StoredCard {
  /** `H("custos/request/v1", JCS(doc))` as this phone computed it, base64url. */
  request_hash: string;
  /** The three words as this phone computed them. */
  words: string;
  message: CardMessage;
  received_ms: number;
  status: RequestStatus | "over";
  /** Which device decided, and why it ended, in the daemon's words. */
  by: string | null;
  reason: string | null;
  /** Why the card is not shown: the daemon asks more than it may (`core/fatigue.ts`). */
  held: string | null;
  /** The daemon's last refusal of a decision about it. */
  error: { code: string; message: string } | null;
  /** The whole ciphertext of a policy change, base64url, while the card waits; `null` on every other card. */
  age_file: string | null;
}

/** An entry of the audit log. `null` is one that this build cannot read: it is counted and shown as such. */
export interface KnownLeaf {
  index: number;
  leaf: AuditLeaf | null;
}

/** What this phone has seen of the audit log, entry by entry. */
export interface Activity {
  /** The Merkle tree over every entry that came, from the first one. */
  tree: MerkleFrontier;
  /** So many entries are covered by a signed checkpoint whose root this phone computed itself. */
  checked: number;
  /** The latest entries, oldest first. */
  leaves: KnownLeaf[];
}

/** A message that waits to be sent. */
export interface OutboxItem {
  id: string;
  message: PhoneMessage;
  /** `posted`: sent once. `decided`: sent again, under new sequences, until the daemon says how the request ended. */
  until: "posted" | "decided";
  attempts: number;
  /** When it is due, by this phone's clock. */
  next_ms: number;
}

/** Why nothing may be approved until a person has looked. */
export type Alarm = "policy_log_forked" | "audit_log_forked" | "audit_log_cut";

/** All that a phone knows of one daemon. */
export interface PhoneRecord<K> {
  v: 1;
  daemon: string;
  /** Base URL of the relay. */
  relay: string;
  /** Id of this device in the policy log. */
  device: string;
  /** `K_words`, base64url: it makes words, and opens nothing. */
  words_key: string;
  to_daemon: MailboxKeys;
  to_phone: MailboxKeys;
  channel: PhoneChannel<K>;
  /** The relay's number of the last message that was read. */
  read_after: number;
  /** The whole policy log, and the state that verifying it gave. */
  log: { records: EntryRecord[]; state: LogState };
  /** The audit log's head as this phone last accepted it. */
  audit_head: LogHead;
  /** Size of the audit log when this session began: no message of it may state a shorter one. */
  audit_floor: number;
  /** The time that the daemon stated last, by its clock, which may be set back; 0 before the first. */
  daemon_now_ms: number;
  /** How far the daemon's clock is ahead of this one's. Shown; nothing is refused by it. */
  clock_offset_ms: number;
  /** How many answers to `sync` came. */
  syncs: number;
  alarm: Alarm | null;
  /** Oldest first. */
  cards: StoredCard[];
  grants: LiveGrant[];
  /** Clear policies. Each hashes to what this phone's own log says of its secret. */
  policies: Policy[];
  activity: Activity;
  /** The daemon's last refusal of something that was not a decision: a change, a mute. By this phone's clock. */
  trouble: { code: string; message: string; at_ms: number } | null;
  outbox: OutboxItem[];
}

/**
 * Where records are kept. Each call is atomic over all tabs and processes that share the store (a Web Lock, a file lock):
 * sequences are drawn in it, and two writers must never draw the same one.
 */
export interface PhoneStore<K> {
  /** Ids of the daemons that this phone is enrolled with. */
  daemons(): Promise<string[]>;
  /** One record, or `null`. */
  read(daemon: string): Promise<PhoneRecord<K> | null>;
  /** Stores the record of a new enrolment. Throws `storage` where one of this daemon is there. */
  create(record: PhoneRecord<K>): Promise<void>;
  /**
   * Reads, changes, and stores before it returns. What `change` returns as its second part is handed back. When `change`
   * throws, or returns the same object, nothing is written. Throws `no_device` where there is no record.
   */
  update<T>(
    daemon: string,
    change: (record: PhoneRecord<K>) => Promise<readonly [PhoneRecord<K>, T]>,
  ): Promise<T>;
}

/** The record, or the error that says what to do. */
export async function requireRecord<K>(store: PhoneStore<K>, daemon: string): Promise<PhoneRecord<K>> {
  return await store.read(daemon) ?? notEnrolled();
}

/** Throws `no_device`: what every store says where it has no record. */
export function notEnrolled(): never {
  throw new CustosError("no_device", "This phone is not paired with that computer. Pair it: custos pair");
}

/** This device as the policy log lists it. Throws `no_device` where it was removed. */
export function ownDevice<K>(record: PhoneRecord<K>): DeviceRecord {
  const device = record.log.state.devices.get(record.device);
  if (device !== undefined) return device;
  throw new CustosError("no_device", "This phone was removed from that computer. Pair it again: custos pair");
}

/** The head of the policy log that this phone has verified. */
export function logHeadOf<K>(record: PhoneRecord<K>): LogHead {
  return { size: record.log.state.size, head: record.log.state.head };
}

/** Throws `locked` where the channel is locked, or a log contradicts what this phone has seen. */
export function requireTrust<K>(record: PhoneRecord<K>): void {
  if (record.channel.locked !== null) {
    throw new CustosError(
      "locked",
      "Two daemons claim this computer's name, so the channel is locked. Nothing is answered. If you did not restore a " +
        "backup, somebody has a copy of its state.",
    );
  }
  if (record.alarm !== null) throw new CustosError("locked", ALARMS[record.alarm]);
}

/** What each alarm says to a person. */
export const ALARMS: Readonly<Record<Alarm, string>> = {
  policy_log_forked:
    "The computer's list of devices and secrets contradicts the one this phone has. Nothing is approved.",
  audit_log_forked:
    "The computer's log of what happened is not the one this phone has seen. Nothing is approved.",
  audit_log_cut: "The computer's log of what happened got shorter. Nothing is approved.",
};
