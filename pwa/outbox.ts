/**
 * Messages that wait to be sent. They are stored before they are sent, so that an approval outlives a closed tab; a
 * decision is sent again, under new sequences, until the daemon says how the request ended (DESIGN §7).
 */

import type { Bytes } from "@custos/core/bytes";
import type { KeyKeeper } from "@custos/core/channel";
import { phoneSend } from "@custos/core/channel_phone";
import { CustosError } from "@custos/core/errors";
import { MAX_PLAINTEXT_BYTES } from "@custos/core/frame";
import { newId } from "@custos/core/ids";
import { type Decision, encodeMessage, type PhoneMessage } from "@custos/core/messages";
import {
  logHeadOf,
  type OutboxItem,
  type PhoneRecord,
  requireTrust,
  type StoredCard,
} from "./phone_store.ts";

/** How long to wait for an answer before a decision is sent again, by attempt, in milliseconds. */
export const RESEND_MS: readonly number[] = [1_000, 2_000, 5_000, 10_000, 30_000];

/** How long another process or tab leaves a message alone that somebody is posting, in milliseconds. */
const POSTING_MS = 6_000;

/** The record with one more message to send. A new `hello`, `sync` or `activity` takes the place of one that still waits. */
export function enqueue<K>(
  record: PhoneRecord<K>,
  message: PhoneMessage,
  until: OutboxItem["until"],
  now_ms: number,
): PhoneRecord<K> {
  const item: OutboxItem = { id: newId(), message, until, attempts: 0, next_ms: now_ms };
  const single = message.t === "hello" || message.t === "sync" || message.t === "activity";
  const others = single ? record.outbox.filter((one) => one.message.t !== message.t) : record.outbox;
  return { ...record, outbox: [...others, item] };
}

/** What a phone says when a session begins: who it is, what it has, and that it wants everything pending. */
export function greet<K>(record: PhoneRecord<K>, build: string, now_ms: number): PhoneRecord<K> {
  const { device, audit_head } = record;
  const log_head = logHeadOf(record);
  const hello: PhoneMessage = { t: "hello", device, build, now_ms, log_head, audit_head };
  return askSync(enqueue(record, hello, "posted", now_ms), now_ms);
}

/** Asks for everything pending, and for the entries that this phone lacks. */
export function askSync<K>(record: PhoneRecord<K>, now_ms: number): PhoneRecord<K> {
  return enqueue(record, { t: "sync", log_size: record.log.state.size }, "posted", now_ms);
}

/** Asks for the entries of the audit log that this phone lacks. */
export function askActivity<K>(record: PhoneRecord<K>, now_ms: number): PhoneRecord<K> {
  return enqueue(record, { t: "activity", from: record.activity.tree.size }, "posted", now_ms);
}

/** All decisions that wait are due now: the daemon has begun a new session, and what went to the old one is lost. */
export function hasten<K>(record: PhoneRecord<K>, now_ms: number): PhoneRecord<K> {
  const outbox = record.outbox.map((item) => item.until === "decided" ? { ...item, next_ms: now_ms } : item);
  return { ...record, outbox };
}

/** Throws `body_too_large` for a message that no frame can hold: it would wait in the outbox for ever. */
export function requireFits(message: PhoneMessage): void {
  if (encodeMessage(message).length <= MAX_PLAINTEXT_BYTES) return;
  throw new CustosError("body_too_large", "This answer is too long for one message, so nothing was sent.");
}

/**
 * The record with a decision to send. One grant for a request at a time; a denial replaces what was decided before, and
 * the daemon ends a grant that it has accepted already (DESIGN §6.3). Throws where the request is over.
 */
export function decide<K>(record: PhoneRecord<K>, decision: Decision, now_ms: number): PhoneRecord<K> {
  requireTrust(record);
  const card = record.cards.find((one) => one.request_hash === decision.request_hash);
  if (card === undefined) throw new CustosError("unknown_request", "There is no such card on this phone.");
  requirePending(card);
  if (decision.decision === "grant" && isDecided(record, card.request_hash)) {
    throw about(
      card,
      "bad_request",
      "This request is answered already. The computer has not confirmed it yet.",
    );
  }
  requireFits(decision);
  const { outbox } = withoutDecision(record, card.request_hash);
  const cards = record.cards.map((one) => one === card ? { ...one, error: null } : one);
  return enqueue({ ...record, cards, outbox }, decision, "decided", now_ms);
}

/** Whether a decision about this request waits for the daemon's answer. */
export function isDecided<K>(record: PhoneRecord<K>, request_hash: string): boolean {
  return record.outbox.some((item) => decides(item, request_hash));
}

/** The record without a decision about this request. */
export function withoutDecision<K>(record: PhoneRecord<K>, request_hash: string): PhoneRecord<K> {
  return { ...record, outbox: record.outbox.filter((item) => !decides(item, request_hash)) };
}

function decides(item: OutboxItem, request_hash: string): boolean {
  return item.message.t === "decision" && item.message.request_hash === request_hash;
}

/** Throws the kind in which a card ended, unless it can be answered. */
export function requirePending(card: StoredCard): void {
  switch (card.status) {
    case "pending":
      return;
    case "denied":
      throw about(card, "denied", "This request was denied already.");
    case "expired":
      throw about(card, "expired", "This request has expired.");
    case "withdrawn":
      throw about(card, "withdrawn", "This request was withdrawn.");
    case "granted":
    case "delivered":
      throw about(card, "bad_request", "This request was approved already.");
    case "over":
      throw about(card, "withdrawn", "The computer no longer waits for this request.");
  }
}

function about(card: StoredCard, kind: CustosError["kind"], message: string): CustosError {
  return new CustosError(kind, message).withRequest(card.message.doc.id, card.words);
}

/** A frame to post, and the item that it carries. */
export interface DueFrame {
  id: string;
  until: OutboxItem["until"];
  frame: Bytes;
}

/**
 * Seals what is due. The returned record has the counted sequences and must be stored before a frame is posted. Without a
 * session nothing is due: what waits is sent when the daemon has offered one.
 */
export async function takeDue<K>(
  keeper: KeyKeeper<K>,
  record: PhoneRecord<K>,
  now_ms: number,
): Promise<readonly [PhoneRecord<K>, DueFrame[]]> {
  const frames: DueFrame[] = [];
  let { channel } = record;
  const outbox: OutboxItem[] = [];
  for (const item of record.outbox) {
    const sent = item.next_ms > now_ms ? null : await phoneSend(keeper, channel, encodeMessage(item.message));
    if (sent === null) {
      outbox.push(item);
      continue;
    }
    channel = sent.state;
    frames.push({ id: item.id, until: item.until, frame: sent.frame });
    outbox.push({ ...item, attempts: item.attempts + 1, next_ms: now_ms + POSTING_MS });
  }
  return frames.length === 0 ? [record, frames] : [{ ...record, channel, outbox }, frames];
}

/** The record after a post: what is sent once leaves the outbox; what waits for an answer is due again later. */
export function settle<K>(
  record: PhoneRecord<K>,
  posted: readonly { id: string; ok: boolean }[],
  now_ms: number,
): PhoneRecord<K> {
  const outcome = new Map(posted.map(({ id, ok }) => [id, ok]));
  const outbox = record.outbox.flatMap((item) => {
    const ok = outcome.get(item.id);
    if (ok === undefined) return [item];
    if (ok && item.until === "posted") return [];
    const pause = RESEND_MS[Math.min(Math.max(item.attempts, 1), RESEND_MS.length) - 1]!;
    return [{ ...item, next_ms: now_ms + pause }];
  });
  return { ...record, outbox };
}

/** When the next message is due, or `null`: with no session, or when locked, time alone changes nothing. */
export function nextDue<K>(record: PhoneRecord<K>): number | null {
  const { session, pending, locked } = record.channel;
  if (locked !== null || (session === null && pending.length === 0) || record.outbox.length === 0) {
    return null;
  }
  return Math.min(...record.outbox.map((item) => item.next_ms));
}
