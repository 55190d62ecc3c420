/**
 * One enrolled phone: what it is sent, and what it may say. Everything from it is authentic (the channel), but only an
 * approval is more than a wish: it carries its own signature.
 */

import { type Bytes, equalBytes, toBase64url } from "@custos/core/bytes";
import { canonicalBytes } from "@custos/core/canonical";
import { CustosError } from "@custos/core/errors";
import type { DaemonRun } from "@custos/core/channel_daemon";
import { splitHeader } from "@custos/core/custody";
import { MAX_PLAINTEXT_BYTES } from "@custos/core/frame";
import { type DaemonMessage, encodeMessage, type PhoneMessage } from "@custos/core/messages";
import type { DeviceRecord, EntryRecord } from "@custos/core/policy_entry";
import type { Policy } from "@custos/core/policy";
import type { PolicyChange } from "@custos/core/policy_change";
import { nameOfHandle } from "@custos/core/request";
import type { AuditLog } from "./audit_log.ts";
import type { ChannelLine, LineOwner } from "./channel_line.ts";
import type { ChannelStore } from "./channel_store.ts";
import type { Decisions } from "./decisions.ts";
import { registeredReply } from "./enrolment.ts";
import type { FatigueStore } from "./fatigue_store.ts";
import type { Grants } from "./grants.ts";
import type { Identity } from "./identity.ts";
import type { PolicyStore } from "./policy_store.ts";
import type { RequestStore, StoredRequest } from "./request_store.ts";
import { VERSION } from "./version.ts";

/** What a phone's link works with. */
export interface LinkParts {
  identity: Identity;
  audit: AuditLog;
  policies: PolicyStore;
  requests: RequestStore;
  grants: Grants;
  fatigue: FatigueStore;
  decisions: Decisions;
  channels: ChannelStore;
  /** Ends all grants and cells. */
  lock: (by: string) => void;
  /** Makes the request of a change that a phone began. */
  change: (secretId: string, change: PolicyChange) => Promise<void>;
}

/** Records of the policy log are sent in messages of about this size, in bytes; one record always fits. */
const ENTRIES_BYTES = 60_000;
/** Most policies in one message, as `core/messages.ts` reads them. */
const POLICIES_A_MESSAGE = 50;
/** Requests that ended while the phone was away and that it is told of, at most. */
const ENDED_TOLD = 32;
/** Refused frames that are recorded in a minute; a relay that floods must not fill the disk. */
const REFUSED_A_MINUTE = 10;

/** The link. */
export class PhoneLink implements LineOwner {
  #refused = { since: 0, count: 0 };

  constructor(readonly device: DeviceRecord, readonly line: ChannelLine, readonly parts: LinkParts) {}

  /** Whether messages can be sealed for this phone now. */
  get up(): boolean {
    return this.line.up;
  }

  saveState(run: DaemonRun<Bytes>): void {
    this.parts.channels.saveState(this.device.device_id, run.state);
  }

  saveCursor(cursor: number): void {
    this.parts.channels.saveCursor(this.device.device_id, cursor);
  }

  async onUp(): Promise<void> {
    try {
      const { identity, audit, policies } = this.parts;
      await this.line.send({
        t: "hello",
        daemon: identity.daemon,
        daemon_name: identity.name,
        version: VERSION,
        now_ms: Date.now(),
        log_head: policies.head,
        checkpoint: (await audit.checkpoint()).note,
      });
      for (const request of this.parts.requests.list("pending")) await this.sendCard(request);
    } catch {
      // the phone asks with `sync` for whatever did not get through
    }
  }

  onRefused(why: "undecipherable" | "replayed" | "malformed"): void {
    const now = Date.now();
    if (now - this.#refused.since > 60_000) this.#refused = { since: now, count: 0 };
    if (++this.#refused.count > REFUSED_A_MINUTE) return;
    this.#note({ event: "channel_refused", device: this.device.device_id, why });
  }

  async onMessage(message: PhoneMessage): Promise<void> {
    this.parts.channels.seen(this.device.device_id, Date.now());
    try {
      await this.#take(message);
    } catch (error) {
      const known = error instanceof CustosError ? error : null;
      const about = message.t === "decision" ? message.request_hash : null;
      const text = (known?.message ?? "Something failed inside the daemon.").slice(0, 500);
      await this.line.send({ t: "error", code: known?.kind ?? "internal", about, message: text }).catch(() =>
        false
      );
      const request = about === null ? undefined : this.parts.requests.byHash(about);
      if (request !== undefined && request.status !== "pending") await this.sendDecided(request);
    }
  }

  async #take(message: PhoneMessage): Promise<void> {
    const { decisions, fatigue, grants, lock } = this.parts;
    switch (message.t) {
      case "hello":
        return;
      case "sync":
        return await this.#sync(message.log_size);
      case "decision":
        return void await this.sendDecided(await decisions.take(this.device, message));
      case "mute":
        return fatigue.mute(message.agent, message.all, Math.min(message.until_ms, Date.now() + 86_400_000));
      case "lock":
        return lock(this.device.name);
      case "change":
        return await this.parts.change(message.secret_id, message.change);
      case "activity":
        return await this.#activity(message.from);
      case "revoke":
        return void grants.end((live) => live.grant.grant_id === message.grant_id, "revoked");
      case "error":
        return this.#note({ event: "channel_refused", device: this.device.device_id, why: message.code });
      case "register":
        return await this.#registered(message.record);
      case "entries":
        throw useless();
    }
  }

  /** A phone that was enrolled by a daemon that died before it could say so asks again, with the very record that was taken. */
  async #registered(record: EntryRecord): Promise<void> {
    const { seq, body } = record.entry;
    const stored = this.parts.policies.records(seq, 1)[0];
    const own = "device" in body && body.device.device_id === this.device.device_id;
    const same = stored !== undefined && equalBytes(canonicalBytes(stored), canonicalBytes(record));
    if (!own || !same) throw useless();
    await this.line.send(await registeredReply(this.parts, this.device.device_id, record));
  }

  /** Sends a card. Never throws; `false` if the relay did not take it. */
  async sendCard(request: StoredRequest): Promise<boolean> {
    try {
      const card = cardOf(request, this.parts);
      const fits = encodeMessage(card).length <= MAX_PLAINTEXT_BYTES;
      const sent = await this.line.send(
        fits ? card : { ...card, previous: null },
        request.expires_ms - Date.now(),
      );
      if (!sent) return false;
      if (request.doc.type === "policy" && request.doc.change.kind === "set") {
        await this.#sendCiphertext(request);
      }
      this.parts.requests.markSent(request.id);
      this.#note({ event: "card_sent", request_id: request.id, device: this.device.device_id });
      return true;
    } catch {
      return false;
    }
  }

  /** Tells the phone how a request ended. Never throws. */
  async sendDecided(request: StoredRequest): Promise<void> {
    const { hash, status, decided_by, reason } = request;
    await this.line.send({ t: "decided", request_hash: hash, status, by: decided_by, reason }).catch(() =>
      false
    );
  }

  /** Everything that the phone should have. Entries first: a card is refused by a phone that lacks its secret's entry. */
  async #sync(logSize: number): Promise<void> {
    const { policies, requests, grants, audit } = this.parts;
    for (const message of entriesFrom(logSize, policies)) await this.line.send(message);
    for (const message of policyMessages(policies)) await this.line.send(message);
    // Ends come before the list: a card that is only missing from it would not say why.
    for (const request of requests.endedSince(Date.now() - 3_600_000, ENDED_TOLD)) {
      await this.sendDecided(request);
    }
    const checkpoint = (await audit.checkpoint()).note;
    // From here to the send nothing is awaited: a card that is on its way before this message must be named in it, else the
    // phone takes it for one that is over.
    const pending = requests.list("pending");
    const live = grants.all().map(({ grant, name, uses_left, wall_deadline_ms }) => ({
      grant,
      name,
      uses_left,
      expires_ms: wall_deadline_ms,
    }));
    await this.line.send({
      t: "sync",
      pending: pending.map((request) => request.hash),
      grants: live.slice(0, 200),
      now_ms: Date.now(),
      checkpoint,
    });
    for (const request of pending) await this.sendCard(request);
  }

  /** Audit leaves from an index on, in messages that fit, and a checkpoint that covers them. */
  async #activity(from: number): Promise<void> {
    const { audit } = this.parts;
    const { note, size } = await audit.checkpoint();
    do {
      const leaves: string[] = [];
      let bytes = 0;
      for (const { index, leaf } of audit.read(from, 500)) {
        bytes += leaf.length * 4 / 3;
        if (index >= size || (leaves.length > 0 && bytes > ENTRIES_BYTES)) break;
        leaves.push(toBase64url(leaf));
      }
      await this.line.send({ t: "activity", from, leaves, checkpoint: note });
      if (leaves.length === 0) return;
      from += leaves.length;
    } while (from < size);
  }

  /** The phone opens it and seals it anew: only for a change, and only while that is pending. */
  async #sendCiphertext(request: StoredRequest): Promise<void> {
    const name = "handle" in request.doc ? nameOfHandle(request.doc.handle) : null;
    const secret = name === null ? undefined : this.parts.policies.byName(name);
    if (secret === undefined) return;
    await this.line.send({
      t: "age_file",
      request_hash: request.hash,
      age_file: toBase64url(secret.age_file),
    });
  }

  #note(note: Parameters<AuditLog["write"]>[0]): void {
    try {
      this.parts.audit.write(note);
    } catch {
      // a full disk: what was to be noted here decides nothing
    }
  }
}

function useless(): CustosError {
  return new CustosError("bad_request", "This daemon has no use for that message now.");
}

/** The clear policies in force, in messages that fit; the phone puts them together. */
function* policyMessages(policies: PolicyStore): Generator<DaemonMessage> {
  let part: Policy[] = [];
  let bytes = 0;
  for (const { policy } of policies.secrets()) {
    bytes += JSON.stringify(policy).length;
    if (part.length === POLICIES_A_MESSAGE || (part.length > 0 && bytes > ENTRIES_BYTES)) {
      yield { t: "policies", policies: part };
      part = [];
      bytes = JSON.stringify(policy).length;
    }
    part.push(policy);
  }
  yield { t: "policies", policies: part };
}

/** The log from an entry on, in messages that fit. */
function* entriesFrom(from: number, policies: PolicyStore): Generator<DaemonMessage> {
  while (from < policies.state.size) {
    const records: EntryRecord[] = [];
    let bytes = 0;
    for (const record of policies.records(from, 100)) {
      bytes += JSON.stringify(record).length;
      if (records.length > 0 && bytes > ENTRIES_BYTES) break;
      records.push(record);
    }
    yield { t: "entries", from, records };
    from += records.length;
  }
}

function cardOf(
  request: StoredRequest,
  { policies, requests }: LinkParts,
): Extract<DaemonMessage, { t: "card" }> {
  const { doc } = request;
  const name = "handle" in doc ? nameOfHandle(doc.handle) : null;
  const secret = name === null ? undefined : policies.byName(name);
  const previous = doc.type === "http" ? requests.previousLike(request.cool_key)?.doc ?? null : null;
  return {
    t: "card",
    doc,
    policy: secret?.policy ?? null,
    header: secret === undefined ? null : toBase64url(splitHeader(secret.age_file).header),
    previous,
  };
}
