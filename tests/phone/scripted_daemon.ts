/**
 * A daemon for tests of the phone's protocol code, made of `core`: it does what the wire says, keeps what the phone sends,
 * and can be told to be wrong. It decides nothing.
 */

import { generateHybridIdentity, identityToRecipient } from "age-encryption";
import { type Bytes, fromBase64url, fromHex, randomBytes, toBase64url } from "@custos/core/bytes";
import { beginRun, type DaemonRun, receive, send, takeAccept } from "@custos/core/channel_daemon";
import { newSession } from "@custos/core/channel";
import { logOrigin, signCheckpoint } from "@custos/core/checkpoint";
import { openWithIdentity } from "@custos/core/custody";
import { readHead } from "@custos/core/frame";
import { pairingSecrets, rootKey } from "@custos/core/handshake";
import { newId } from "@custos/core/ids";
import {
  type DaemonMessage,
  encodeMessage,
  type PhoneMessage,
  readPhoneMessage,
} from "@custos/core/messages";
import {
  encodePairMessage,
  type MailboxKeys,
  opensCommitment,
  type PairingKeys,
  pairingKeys,
  pairingUrl,
  pairRecipientHash,
  readPairMessage,
  readReveal,
  rendezvousMailboxes,
} from "@custos/core/pairing";
import type { EntryRecord } from "@custos/core/policy_entry";
import { applyEntries, emptyLog, type LogState } from "@custos/core/policy_log";
import { RelayClient } from "@custos/core/relay_client";
import { hashToken } from "@custos/core/relay_wire";
import type { MemoryRelay } from "./memory_relay.ts";
import { TEXT_KEEPER } from "./text_keeper.ts";

/** Ways to be wrong in pairing. */
export interface PairingFaults {
  /** Answer with another recipient than the link promised. */
  other_recipient?: boolean;
  /** Use another nonce for the transcript than was sent, as a relay that changed it would cause. */
  other_nonce?: boolean;
  /** Change what is sent back as registered. */
  other_record?: boolean;
}

/** Words of both sides at a pairing. */
export interface DaemonSide {
  url: string;
  /** Resolves with the daemon's words when the reveal came. */
  words: Promise<string>;
}

/** The daemon. */
export class ScriptedDaemon {
  readonly daemon: string = newId();
  readonly daemon_name = "test computer";
  readonly epoch: string = newId();
  readonly words_key: Bytes = randomBytes(32);
  readonly reply = generateHybridIdentity();
  records: EntryRecord[] = [];
  log: LogState = emptyLog(this.daemon);
  audit = { size: 1, root: randomBytes(32) };
  boxes: { to_daemon: MailboxKeys; to_phone: MailboxKeys } | null = null;
  registers = 0;
  run: DaemonRun<string> | null = null;
  readonly relay: RelayClient;
  readonly #audit_keys = crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]) as Promise<
    CryptoKeyPair
  >;
  #cursor = 0;

  constructor(readonly memory: MemoryRelay) {
    this.relay = new RelayClient({ url: memory.url, fetch: memory.fetch });
  }

  /** Begins a pairing and answers the phone by itself, the confirmed word included. */
  async pairing(faults: PairingFaults = {}, origin = "https://phone.example.test"): Promise<DaemonSide> {
    const identity = await generateHybridIdentity();
    const recipient = await identityToRecipient(identity);
    const secret = randomBytes(16);
    const rendezvous = newId();
    const url = pairingUrl(origin, {
      relay: this.memory.url,
      rendezvous,
      recipient_sha256: await pairRecipientHash(recipient),
      secret: toBase64url(secret),
      expires_ms: Date.now() + 120_000,
    });
    const boxes = await rendezvousMailboxes(secret, rendezvous);
    const words = this.#meet({ identity, recipient, secret, boxes, faults });
    words.catch(() => {});
    return { url, words };
  }

  /** The public key of the audit log, base64url. */
  async auditKey(): Promise<string> {
    return toBase64url(await this.#auditPublic());
  }

  /** A signed checkpoint of the audit log as it is said to be. */
  async checkpoint(): Promise<string> {
    const { privateKey } = await this.#audit_keys;
    const checkpoint = { origin: logOrigin(this.daemon), ...this.audit };
    return await signCheckpoint(checkpoint, await this.#auditPublic(), async (bytes) => {
      return new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, bytes));
    });
  }

  /** Sends one message in the present session. */
  async send(message: DaemonMessage): Promise<void> {
    const sent = (await send(TEXT_KEEPER, this.run!, encodeMessage(message)))!;
    this.run = sent.run;
    await this.relay.post(this.boxes!.to_phone.id, this.boxes!.to_phone.write_token, sent.frame);
  }

  /** What the phone has sent since, decoded; acceptances of a new session are taken on the way. */
  async take(wait_ms = 0): Promise<PhoneMessage[]> {
    const { id, read_token } = this.boxes!.to_daemon;
    const page = await this.relay.read(id, read_token, this.#cursor, { wait_ms });
    const messages: PhoneMessage[] = [];
    for (const { seq, data } of page.kind === "ok" ? page.value : []) {
      this.#cursor = seq;
      if (readHead(data)?.kind === "accept") {
        this.run = await takeAccept(TEXT_KEEPER, this.run!, data) ?? this.run;
        continue;
      }
      const received = await receive(TEXT_KEEPER, this.run!, data);
      if (!received.ok) continue;
      this.run = received.session;
      messages.push(readPhoneMessage(received.plaintext));
    }
    return messages;
  }

  /** The next message of this kind. Throws when none comes in ten rounds. */
  async expect<T extends PhoneMessage["t"]>(kind: T): Promise<Extract<PhoneMessage, { t: T }>> {
    for (let round = 0; round < 10; round++) {
      const found = (await this.take(500)).find((message) => message.t === kind);
      if (found !== undefined) return found as Extract<PhoneMessage, { t: T }>;
    }
    throw new Error(`The phone sent no ${kind}.`);
  }

  /** Ends this run and offers a session, as a start of the daemon does. `state` poses as an older copy of it. */
  async restart(state = this.run!.state): Promise<void> {
    this.run = await beginRun(TEXT_KEEPER, state);
    await this.relay.post(this.boxes!.to_phone.id, this.boxes!.to_phone.write_token, this.run.offer);
  }

  async hello(change: Partial<Extract<DaemonMessage, { t: "hello" }>> = {}): Promise<void> {
    const { daemon, daemon_name, log: { size, head } } = this;
    const checkpoint = await this.checkpoint();
    const log_head = { size, head };
    await this.send({
      t: "hello",
      daemon,
      daemon_name,
      version: "1",
      now_ms: Date.now(),
      log_head,
      checkpoint,
      ...change,
    });
  }

  async #meet(parts: {
    identity: string;
    recipient: string;
    secret: Bytes;
    boxes: { to_daemon: MailboxKeys; to_phone: MailboxKeys };
    faults: PairingFaults;
  }): Promise<string> {
    const { boxes, faults, secret } = parts;
    await this.#make(boxes.to_daemon);
    await this.#make(boxes.to_phone);
    const commit = readPairMessage(await this.#first(boxes.to_daemon, 0));
    if (commit.t !== "commit") throw new Error("no commitment");
    const recipient = faults.other_recipient
      ? await identityToRecipient(await generateHybridIdentity())
      : parts.recipient;
    const nonce = toBase64url(randomBytes(32));
    const answer = encodePairMessage({ v: 1, t: "key", recipient, nonce });
    await this.relay.post(boxes.to_phone.id, boxes.to_phone.write_token, answer);
    const reveal = readPairMessage(await this.#first(boxes.to_daemon, 1));
    if (reveal.t !== "reveal") throw new Error("no reveal");
    const opened = readReveal(await openWithIdentity(parts.identity, fromBase64url(reveal.sealed)!));
    if (!await opensCommitment(commit.c, opened)) throw new Error("the reveal does not open the commitment");
    const keys = await pairingKeys({
      c: commit.c,
      recipient,
      nonce: faults.other_nonce ? toBase64url(randomBytes(32)) : nonce,
      sealed: reveal.sealed,
      phoneKey: fromBase64url(opened.key)!,
      secret,
    });
    const { words } = keys;
    this.#enrol(keys, faults).catch(() => {});
    return words;
  }

  async #enrol(keys: PairingKeys, faults: PairingFaults): Promise<void> {
    this.boxes = { to_daemon: keys.to_daemon, to_phone: keys.to_phone };
    await this.#make(keys.to_daemon);
    await this.#make(keys.to_phone);
    const { id, secrets } = await pairingSecrets(await rootKey(keys.root), keys.transcript);
    const root = await TEXT_KEEPER.keep(keys.root, "root");
    const session = await newSession(TEXT_KEEPER, id, secrets);
    const state = { channel: keys.channel, generation: 0, root, next: null };
    this.run = { state, id, identity: "", offer: new Uint8Array(0), session };
    if (fromHex(keys.channel)?.length !== 16) throw new Error("the channel's id is not 16 bytes");
    const { daemon, daemon_name, epoch } = this;
    const log_head = { size: 0, head: null };
    const audit_key = await this.auditKey();
    await this.send({
      t: "pair_ready",
      daemon,
      daemon_name,
      epoch,
      audit_key,
      log_head,
      exclude: [],
      mode: "register",
    });
    for (;;) {
      const message = (await this.take(1_000)).find((one) => one.t === "register" || one.t === "error");
      if (message === undefined) continue;
      if (message.t !== "register") return;
      this.registers++;
      this.records = [message.record];
      this.log = await applyEntries(emptyLog(daemon), this.records);
      const body = message.record.entry.body;
      if (body.type !== "genesis") throw new Error("the first entry is no genesis");
      const record = structuredClone(message.record);
      if (faults.other_record) record.entry.body = { ...body, daemon_name: "another name" };
      const words_key = toBase64url(this.words_key);
      const checkpoint = await this.checkpoint();
      return await this.send({
        t: "registered",
        device: body.device.device_id,
        words_key,
        record,
        checkpoint,
      });
    }
  }

  async #first(box: MailboxKeys, skip: number): Promise<Bytes> {
    for (;;) {
      const page = await this.relay.read(box.id, box.read_token, 0, { wait_ms: skip === 0 ? 1_000 : 0 });
      if (page.kind === "ok" && page.value.length > skip) return page.value[skip]!.data;
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (page.kind !== "ok") throw new Error("the phone did not come");
    }
  }

  async #make({ id, read_token, write_token }: MailboxKeys): Promise<void> {
    await this.relay.createMailbox(id, await hashToken(read_token), await hashToken(write_token));
  }

  async #auditPublic(): Promise<Bytes> {
    return new Uint8Array(await crypto.subtle.exportKey("raw", (await this.#audit_keys).publicKey));
  }
}
