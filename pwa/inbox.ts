/**
 * What the daemon's messages change in the phone's record. A frame and its effect are one step of the store: when the
 * window has moved, the card is there too, and a frame that comes again changes nothing (B132).
 */

import { phoneReceive, phoneSend } from "@custos/core/channel_phone";
import type { Bytes } from "@custos/core/bytes";
import { asCustosError } from "@custos/core/errors";
import { FATIGUE, mayAsk } from "@custos/core/fatigue";
import { type DaemonMessage, encodeMessage, readDaemonMessage } from "@custos/core/messages";
import { takeActivity } from "./activity.ts";
import { identify } from "./card.ts";
import { compareHead, takeCheckpoint, takeEntries, takePolicies } from "./log_sync.ts";
import { askActivity, askSync, enqueue, greet, hasten, withoutDecision } from "./outbox.ts";
import type { Alarm, CardMessage, PhoneRecord, StoredCard } from "./phone_store.ts";
import type { PhoneParts } from "./phone_parts.ts";

/** Cards that have ended and are still kept: to be shown, and to be counted for the limits of an hour. */
const KEPT_CARDS = 100;

/** What a frame came to. `answer` is to be posted after the record was stored. */
export interface TakenFrame<K> {
  record: PhoneRecord<K>;
  answer: Bytes | null;
}

/** Takes one frame of the channel. Never throws for what is in it: a message that cannot be used is answered with `error`. */
export async function takeFrame<K>(
  parts: Pick<PhoneParts<K>, "keeper" | "now" | "build">,
  record: PhoneRecord<K>,
  frame: Bytes,
): Promise<TakenFrame<K>> {
  const received = await phoneReceive(parts.keeper, record.channel, frame);
  switch (received.kind) {
    case "refused":
      return { record, answer: null };
    case "answer":
      return { record: { ...record, channel: received.state }, answer: received.frame };
    case "locked":
      return { record: { ...record, channel: received.state }, answer: await lastWord(parts, record) };
    case "message": {
      const now_ms = parts.now();
      let next: PhoneRecord<K> = { ...record, channel: received.state };
      if (received.state.session?.id !== record.channel.session?.id) {
        next = { ...next, audit_floor: record.audit_head.size };
        next = hasten(greet(next, parts.build, now_ms), now_ms);
      }
      try {
        const message = readDaemonMessage(received.plaintext);
        return { record: await applyMessage(next, message, now_ms), answer: null };
      } catch (error) {
        const { kind, message } = asCustosError(error);
        const report = { t: "error", code: kind, about: null, message: message.slice(0, 500) } as const;
        return { record: enqueue(next, report, "posted", now_ms), answer: null };
      }
    }
  }
}

/** Said once in the session that was there before: of the two daemons, the one that this phone knew records the lock. */
async function lastWord<K>(
  parts: Pick<PhoneParts<K>, "keeper">,
  record: PhoneRecord<K>,
): Promise<Bytes | null> {
  const message = "Somebody shook hands under a key that was replaced. This phone answers nothing any more.";
  const error = { t: "error", code: "superseded_handshake", about: null, message } as const;
  return (await phoneSend(parts.keeper, record.channel, encodeMessage(error)))?.frame ?? null;
}

/** The record after a message. Throws where the message cannot be used; then nothing of it was. */
export async function applyMessage<K>(
  record: PhoneRecord<K>,
  message: DaemonMessage,
  now_ms: number,
): Promise<PhoneRecord<K>> {
  switch (message.t) {
    case "hello":
      return await takeHello(record, message, now_ms);
    case "sync":
      return await takeSync(record, message, now_ms);
    case "card":
      return await takeCard(record, message, now_ms);
    case "decided":
      return await takeDecided(record, message, now_ms);
    case "entries": {
      const taken = await takeEntries(record, message.from, message.records);
      if (taken === "forked") return alarm(record, "policy_log_forked");
      return taken === "gap" ? askSync(record, now_ms) : taken.record;
    }
    case "error":
      return takeError(record, message, now_ms);
    case "age_file":
      return takeAgeFile(record, message);
    case "policies":
      return await takePolicies(record, message.policies);
    case "activity":
      return await takeEvents(record, message, now_ms);
    case "pair_ready":
    case "registered":
      return record; // nothing that this phone keeps
  }
}

async function takeHello<K>(
  record: PhoneRecord<K>,
  message: Extract<DaemonMessage, { t: "hello" }>,
  now_ms: number,
): Promise<PhoneRecord<K>> {
  let next = await witness(stateTime(record, message.now_ms, now_ms), message.checkpoint);
  const verdict = message.daemon === record.daemon ? await compareHead(next, message.log_head) : "forked";
  if (verdict === "forked") return alarm(next, "policy_log_forked");
  if ("ask" in verdict) return askSync(next, now_ms);
  for (const push of verdict.push) next = enqueue(next, push, "posted", now_ms);
  return next;
}

/** Everything pending now. A card that is not named has ended, unless it was made after the daemon wrote this. */
async function takeSync<K>(
  record: PhoneRecord<K>,
  message: Extract<DaemonMessage, { t: "sync" }>,
  now_ms: number,
): Promise<PhoneRecord<K>> {
  const pending = new Set(message.pending);
  const over = record.cards.filter((card) =>
    card.status === "pending" && !pending.has(card.request_hash) &&
    card.message.doc.created_ms < message.now_ms
  );
  let next: PhoneRecord<K> = {
    ...stateTime(record, message.now_ms, now_ms),
    syncs: record.syncs + 1,
    grants: message.grants,
  };
  for (const card of over) {
    const expired = card.message.doc.expires_ms <= message.now_ms;
    next = withoutDecision(end(next, card.request_hash, expired ? "expired" : "over"), card.request_hash);
  }
  return await witness(next, message.checkpoint);
}

async function takeCard<K>(
  record: PhoneRecord<K>,
  message: CardMessage,
  now_ms: number,
): Promise<PhoneRecord<K>> {
  const { request_hash, words } = await identify(record.words_key, message.doc);
  const known = record.cards.find((card) => card.request_hash === request_hash);
  if (known !== undefined) {
    // A card is never replaced in place; one that comes again is pending still (the daemon may have lost our answer).
    return known.status === "over" ? end(record, request_hash, "pending") : record;
  }
  const card: StoredCard = {
    request_hash,
    words,
    message,
    received_ms: now_ms,
    status: "pending",
    by: null,
    reason: null,
    held: heldBack(record.cards, message, now_ms),
    error: null,
    age_file: null,
  };
  const ended = record.cards.filter((one) => one.status !== "pending");
  const dropped = new Set(ended.slice(0, Math.max(0, ended.length - KEPT_CARDS)));
  return { ...record, cards: [...record.cards.filter((one) => !dropped.has(one)), card] };
}

/** Why one more card is not shown. The daemon keeps these limits itself, so only one that misbehaves meets them. */
function heldBack(cards: readonly StoredCard[], message: CardMessage, now_ms: number): string | null {
  const shown = cards.filter((card) => card.held === null);
  const ofAgent = (card: StoredCard) => card.message.doc.agent.name === message.doc.agent.name;
  const pending = shown.filter((card) => card.status === "pending");
  const recent = shown.filter((card) => card.received_ms > now_ms - FATIGUE.hour_ms);
  const verdict = mayAsk({
    pending_of_agent: pending.filter(ofAgent).length,
    pending_total: pending.length,
    cards_last_hour_of_agent: recent.filter(ofAgent).length,
    cards_last_hour_total: recent.length,
    hour_frees_ms: Math.min(...recent.map((card) => card.received_ms), now_ms) + FATIGUE.hour_ms,
  });
  return verdict.ok ? null : verdict.why;
}

async function takeDecided<K>(
  record: PhoneRecord<K>,
  message: Extract<DaemonMessage, { t: "decided" }>,
  now_ms: number,
): Promise<PhoneRecord<K>> {
  const { request_hash, status, by, reason } = message;
  if (status === "pending") return record;
  const mine = record.outbox.map((item) => item.message).find((one) =>
    one.t === "decision" && one.decision === "grant" && one.request_hash === request_hash
  );
  let next = end(withoutDecision(record, request_hash), request_hash, status, { by, reason });
  const records = mine?.t === "decision" && mine.decision === "grant" ? mine.records : [];
  if (records.length === 0 || (status !== "granted" && status !== "delivered")) return next;
  // The entries of this approval are in the daemon's log now. They are taken at once where the name of the deciding device
  // is this one's alone, so that the secret's first card does not come before them; `sync` brings them in any case.
  const named = [...record.log.state.devices.values()].filter((device) => device.name === by);
  if (by === record.device || (named.length === 1 && named[0]!.device_id === record.device)) {
    const taken = await takeEntries(next, records[0]!.entry.seq, records);
    if (typeof taken === "object") next = taken.record;
    if (mine?.t === "decision" && mine.decision === "grant") {
      next = await takePolicies(next, mine.policy === null ? [] : [mine.policy]);
    }
  }
  return askSync(next, now_ms);
}

/** The ciphertext of a change. It is held against the log when it is opened (`policy_change.ts`), not here. */
function takeAgeFile<K>(
  record: PhoneRecord<K>,
  { request_hash, age_file }: Extract<DaemonMessage, { t: "age_file" }>,
): PhoneRecord<K> {
  const waits = (card: StoredCard) =>
    card.request_hash === request_hash && card.status === "pending" && card.message.doc.type === "policy";
  if (!record.cards.some(waits)) return record;
  return { ...record, cards: record.cards.map((card) => waits(card) ? { ...card, age_file } : card) };
}

async function takeEvents<K>(
  record: PhoneRecord<K>,
  message: Extract<DaemonMessage, { t: "activity" }>,
  now_ms: number,
): Promise<PhoneRecord<K>> {
  const next = await witness(record, message.checkpoint);
  if (next.alarm !== record.alarm) return next;
  const taken = await takeActivity(next, message);
  if (typeof taken === "object") return taken.record;
  if (taken === "audit_log_forked") return alarm(next, taken);
  return taken === "gap" ? askActivity(next, now_ms) : next;
}

/** A decision that the daemon refused is not sent again; the card can be answered anew while it is pending. */
function takeError<K>(
  record: PhoneRecord<K>,
  message: Extract<DaemonMessage, { t: "error" }>,
  now_ms: number,
): PhoneRecord<K> {
  const { about, code, message: text } = message;
  if (about === null) return { ...record, trouble: { code, message: text, at_ms: now_ms } };
  const cards = record.cards.map((card) =>
    card.request_hash === about ? { ...card, error: { code, message: text } } : card
  );
  return withoutDecision({ ...record, cards }, about);
}

function end<K>(
  record: PhoneRecord<K>,
  request_hash: string,
  status: StoredCard["status"],
  how: { by: string | null; reason: string | null } = { by: null, reason: null },
): PhoneRecord<K> {
  const cards = record.cards.map((card) =>
    card.request_hash === request_hash
      ? { ...card, status, ...how, age_file: status === "pending" ? card.age_file : null }
      : card
  );
  return { ...record, cards };
}

function stateTime<K>(record: PhoneRecord<K>, stated_ms: number, now_ms: number): PhoneRecord<K> {
  // Also where it is earlier than before: a computer whose clock was wrong, and was set right, must not seem a year ahead.
  return {
    ...record,
    daemon_now_ms: stated_ms,
    clock_offset_ms: stated_ms - now_ms,
  };
}

async function witness<K>(record: PhoneRecord<K>, checkpoint: string): Promise<PhoneRecord<K>> {
  const taken = await takeCheckpoint(record, checkpoint);
  if (taken === "unsigned") return record;
  return typeof taken === "string" ? alarm(record, taken) : taken.record;
}

function alarm<K>(record: PhoneRecord<K>, why: Alarm): PhoneRecord<K> {
  return { ...record, alarm: record.alarm ?? why };
}
