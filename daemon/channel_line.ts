/**
 * One channel over the relay: two mailboxes, the session of this run, and a loop that reads. Messages come out decoded and
 * each once; what goes in is sealed in order. A relay that loses its data, lies or goes away is met with patience: the
 * loop makes the mailboxes again, and the caller sends its cards again (B152).
 */

import type { Bytes } from "@custos/core/bytes";
import { type DaemonRun, receive, send, takeAccept } from "@custos/core/channel_daemon";
import { frameKey, readHead } from "@custos/core/frame";
import { rootKey } from "@custos/core/handshake";
import {
  type DaemonMessage,
  encodeMessage,
  type PhoneMessage,
  readPhoneMessage,
} from "@custos/core/messages";
import type { MailboxKeys } from "@custos/core/pairing";
import { Backoff, type RelayClient, type RelayOutcome } from "@custos/core/relay_client";
import { hashToken } from "@custos/core/relay_wire";
import type { KeyKeeper } from "@custos/core/channel";

/** The daemon keeps raw bytes: its database is its only store. */
export const KEEPER: KeyKeeper<Bytes> = {
  keep: (bytes) => Promise.resolve(bytes.slice()),
  load: (kept, use) => use === "root" ? rootKey(kept) : frameKey(kept),
};

/** How long one read waits at the relay, in milliseconds. */
const READ_WAIT_MS = 25_000;
/** An offer that nobody has answered is posted again after this time: the relay forgets after 24 hours. */
const OFFER_AGAIN_MS = 12 * 3_600_000;
/** Longest life of a message at the relay. */
const TTL_MS = 86_400_000;

/** What a line needs from its owner. */
export interface LineOwner {
  /** Stores the channel's state; called before anything that depends on it is done. */
  saveState(run: DaemonRun<Bytes>): void;
  /** Stores how far the mailbox was read. */
  saveCursor(cursor: number): void;
  /** A message from the phone, each once. Must not throw. */
  onMessage(message: PhoneMessage): Promise<void>;
  /** A session is up, new or healed: send what the phone should have. Must not throw. */
  onUp(): Promise<void>;
  /** A frame that was refused. */
  onRefused(why: "undecipherable" | "replayed" | "malformed"): void;
}

/** State of the connection to the relay. */
export type LineState = "connecting" | "connected" | "refused" | "offline";

/** One channel's line. */
export class ChannelLine {
  #run: DaemonRun<Bytes>;
  #cursor: number;
  #sending: Promise<unknown> = Promise.resolve();
  #offeredMs = 0;
  readonly #stopped = new AbortController();
  /** Ends the read that waits now. */
  #reading = new AbortController();
  /** Something could not be posted: the loop tries the relay again with growing pauses, and the owner then sends anew. */
  #missed = false;
  /** State of the connection, and since when. */
  state: { state: LineState; since_ms: number } = { state: "connecting", since_ms: Date.now() };

  constructor(
    readonly client: RelayClient,
    readonly mailboxes: { to_daemon: MailboxKeys; to_phone: MailboxKeys },
    run: DaemonRun<Bytes>,
    cursor: number,
    public owner: LineOwner,
  ) {
    this.#run = run;
    this.#cursor = cursor;
  }

  /** The channel's state now. */
  get run(): DaemonRun<Bytes> {
    return this.#run;
  }

  /** How far the mailbox was read. */
  get cursor(): number {
    return this.#cursor;
  }

  /** Whether there is a session to send in. */
  get up(): boolean {
    return this.#run.session !== null;
  }

  /** Ends the loop and every wait of it. */
  stop(): void {
    this.#stopped.abort();
    this.#reading.abort();
  }

  /** Seals and posts one message. `false` if there is no session, or the relay did not take it. */
  send(message: DaemonMessage, ttlMs: number = TTL_MS): Promise<boolean> {
    const run = this.#sending.then(() => this.#send(message, ttlMs));
    this.#sending = run.catch(() => {});
    return run;
  }

  async #send(message: DaemonMessage, ttlMs: number): Promise<boolean> {
    const run = this.#run;
    if (run.session === null) return false;
    // The sequence is taken before anything is awaited. It lives in memory only, as the keys of a run do.
    this.#run = { ...run, session: { ...run.session, next_sequence: run.session.next_sequence + 1 } };
    const sealed = await send(KEEPER, run, encodeMessage(message));
    if (sealed === null) return false;
    const ttl_ms = Math.max(1_000, Math.min(ttlMs, TTL_MS));
    const { id, write_token } = this.mailboxes.to_phone;
    const outcome = await this.client.post(id, write_token, sealed.frame, {
      ttl_ms,
      signal: this.#stopped.signal,
    });
    if (outcome.kind === "ok") return true;
    this.#missed = true; // a read that still waits at the relay must not hide that a card is lost (B142)
    this.#reading.abort();
    return false;
  }

  /** Reads until stopped. Never throws. */
  async loop(): Promise<void> {
    const backoff = new Backoff();
    let healthy = false;
    while (!this.#stopped.signal.aborted) {
      if (!healthy) {
        const made = await this.#prepare();
        if (made.kind !== "ok") {
          if (!await this.#pause(backoff, made)) return;
          continue;
        }
        healthy = true;
        this.#missed = false;
        if (this.up) await this.owner.onUp();
      }
      await this.#offer();
      const { id, read_token } = this.mailboxes.to_daemon;
      this.#reading = new AbortController();
      if (this.#missed || this.#stopped.signal.aborted) this.#reading.abort();
      const wait = { wait_ms: READ_WAIT_MS, signal: this.#reading.signal };
      const page = await this.client.read(id, read_token, this.#cursor, wait);
      if (page.kind !== "ok") {
        healthy = false;
        if (page.kind === "gone") {
          this.#cursor = 0; // a new mailbox counts from the start; sequences inside still refuse what came before
          this.#offeredMs = 0;
          continue;
        }
        if (!await this.#pause(backoff, page)) return;
        continue;
      }
      backoff.next(page);
      this.#setState("connected");
      if (page.value.length === 0) continue;
      let useful = false;
      for (const message of page.value) {
        useful = await this.#take(message.data) || useful;
        this.#cursor = message.seq;
      }
      this.owner.saveCursor(this.#cursor);
      await this.client.ack(id, read_token, this.#cursor);
      await this.#sleep(backoff.page(useful));
    }
  }

  /** Makes both mailboxes; the relay may have lost them. */
  async #prepare(): Promise<RelayOutcome<void>> {
    for (const keys of [this.mailboxes.to_daemon, this.mailboxes.to_phone]) {
      const made = await this.client.createMailbox(
        keys.id,
        await hashToken(keys.read_token),
        await hashToken(keys.write_token),
      );
      if (made.kind !== "ok") return made;
    }
    this.#setState("connected");
    return { kind: "ok", value: undefined };
  }

  async #offer(): Promise<void> {
    if (this.up || this.#run.offer.length === 0 || Date.now() - this.#offeredMs < OFFER_AGAIN_MS) return;
    const { id, write_token } = this.mailboxes.to_phone;
    const posted = await this.client.post(id, write_token, this.#run.offer, { ttl_ms: TTL_MS });
    if (posted.kind === "ok") this.#offeredMs = Date.now();
    else this.#missed = true;
  }

  /** `false` for a frame that was refused. */
  async #take(frame: Bytes): Promise<boolean> {
    const head = readHead(frame);
    if (head?.kind === "accept") {
      const run = await takeAccept(KEEPER, this.#run, frame);
      if (run === null) return false;
      this.owner.saveState(run);
      this.#run = run;
      await this.owner.onUp();
      return true;
    }
    const received = await receive(KEEPER, this.#run, frame);
    if (!received.ok) {
      this.owner.onRefused(received.why);
      return false;
    }
    const { state } = this.#run;
    // Sending may have moved on while this frame was opened: take over the window and the state, keep the sequence.
    const session = this.#run.session === null || received.session.session === null
      ? received.session.session
      : { ...received.session.session, next_sequence: this.#run.session.next_sequence };
    const next = { ...received.session, session };
    if (next.state !== state) this.owner.saveState(next);
    this.#run = next;
    let message: PhoneMessage;
    try {
      message = readPhoneMessage(received.plaintext);
    } catch {
      this.owner.onRefused("malformed");
      return true;
    }
    await this.owner.onMessage(message);
    return true;
  }

  /** `false` where no later try can go better, and the loop ends with the state `refused` (B171). */
  async #pause(backoff: Backoff, outcome: RelayOutcome<unknown>): Promise<boolean> {
    if (this.#stopped.signal.aborted) return true;
    const pause = backoff.next(outcome);
    this.#setState(pause === null ? "refused" : "offline");
    if (pause === null) return false;
    await this.#sleep(pause);
    return true;
  }

  /** Waits, or ends early when the line is stopped. */
  async #sleep(ms: number): Promise<void> {
    const { signal } = this.#stopped;
    if (ms === 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      function done() {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      }
      signal.addEventListener("abort", done);
    });
  }

  #setState(state: LineState): void {
    if (this.state.state !== state) this.state = { state, since_ms: Date.now() };
  }
}
