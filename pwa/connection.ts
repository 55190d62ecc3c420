/**
 * The phone's line to one daemon: sends what waits, reads the mailbox, and stores every step before it acts on it. Several
 * tabs or processes may run one at the same time; the store makes one line of them.
 */

import { CustosError } from "@custos/core/errors";
import type { PhoneMessage } from "@custos/core/messages";
import { Backoff, RelayClient, type RelayOutcome } from "@custos/core/relay_client";
import { WAIT_MS_MAX } from "@custos/core/relay_wire";
import { takeFrame } from "./inbox.ts";
import { makeMailbox, postTo, sleep, withSignal } from "./mailboxes.ts";
import { askSync, enqueue, greet, nextDue, settle, takeDue } from "./outbox.ts";
import type { PhoneParts } from "./phone_parts.ts";
import { type PhoneRecord, requireRecord } from "./phone_store.ts";

/** How a connection is, for people. `stopped`: the relay refuses, and no later try can go better. */
export type ConnectionState = "connecting" | "connected" | "unreachable" | "stopped";

/** A line to one daemon. */
export class Connection<K> {
  readonly daemon: string;
  readonly #parts: PhoneParts<K>;
  #relay: RelayClient | null = null;
  #state: ConnectionState = "connecting";
  /** Ends the present pause of the sender. */
  #sent = new AbortController();

  constructor(parts: PhoneParts<K>, daemon: string) {
    this.#parts = parts;
    this.daemon = daemon;
  }

  /** How the last call to the relay went. */
  get state(): ConnectionState {
    return this.#state;
  }

  /** The record as it is now. Throws `no_device`. */
  async record(): Promise<PhoneRecord<K>> {
    return await requireRecord(this.#parts.store, this.daemon);
  }

  /** Says hello and asks for everything pending. Call it once when the phone wakes up. */
  async wake(): Promise<void> {
    const { now, build } = this.#parts;
    await this.#change((record) => greet(record, build, now()));
  }

  /** Stores a message and sends it once. */
  async send(message: PhoneMessage): Promise<void> {
    await this.#change((record) => enqueue(record, message, "posted", this.#parts.now()));
    await this.flush();
  }

  /** Sends what is due. What cannot be posted now stays in the outbox. */
  async flush(signal?: AbortSignal): Promise<void> {
    const { store, keeper, now } = this.#parts;
    const before = await this.record();
    const due = nextDue(before);
    if (due === null || due > now()) return;
    const frames = await store.update(this.daemon, (record) => takeDue(keeper, record, now()));
    const posted: { id: string; ok: boolean }[] = [];
    for (const { id, frame } of frames) {
      posted.push({
        id,
        ok: await postTo(this.#relayOf(before), before.to_daemon, frame, { tries: 1, signal }),
      });
    }
    if (posted.length === 0) return;
    await this.#change((record) => settle(record, posted, now()));
    this.#sent.abort(); // the time of the next repetition is another one now
  }

  /**
   * One round: sends what is due, then reads the mailbox and waits up to `wait_ms` for a message. Returns how many
   * messages were taken, how many of them were of use, and how the relay answered.
   */
  async round(
    wait_ms: number,
    signal?: AbortSignal,
  ): Promise<{ taken: number; useful: number; outcome: RelayOutcome<unknown> }> {
    await this.flush(signal);
    const record = await this.record();
    const relay = this.#relayOf(record);
    const options = { wait_ms: Math.min(wait_ms, WAIT_MS_MAX), ...withSignal(signal) };
    const { id, read_token } = record.to_phone;
    const page = await relay.read(id, read_token, record.read_after, options);
    if (page.kind === "gone") return { taken: 0, useful: 0, outcome: await this.#heal(relay, record) };
    if (page.kind !== "ok" || page.value.length === 0) return { taken: 0, useful: 0, outcome: page };
    let useful = 0;
    for (const message of page.value) useful += Number(await this.#take(relay, record, message.data, signal));
    const last = page.value.at(-1)!.seq;
    await this.#change((one) => ({ ...one, read_after: last }));
    await this.flush(signal); // what the messages asked for goes out before the relay is told to forget them
    await relay.ack(id, read_token, last);
    return { taken: page.value.length, useful, outcome: page };
  }

  /**
   * Rounds until `signal` ends them, with growing pauses while the relay cannot be reached (B141, B171). `changed` is
   * called after each round that took something, and when the line got better or worse. Throws `daemon_unreachable` when
   * the relay refuses for good, `no_device` when there is no record any more.
   */
  async run(signal: AbortSignal, changed: () => void = () => {}): Promise<void> {
    const ended = new AbortController();
    const end = () => ended.abort();
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    const loops = [this.#read(ended.signal, changed), this.#repeat(ended.signal)];
    try {
      await Promise.race(loops); // before `signal`, a loop ends only by an error
    } finally {
      end();
      signal.removeEventListener("abort", end);
      await Promise.allSettled(loops);
    }
  }

  /** Sends what is due while a read waits: a decision must not wait for the end of a long poll. */
  async #repeat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#sent = new AbortController();
      const due = nextDue(await this.record());
      const pause = due === null ? WAIT_MS_MAX : Math.min(Math.max(50, due - this.#parts.now()), WAIT_MS_MAX);
      await sleep(pause, signal, this.#sent.signal);
      if (!signal.aborted) await this.flush(signal);
    }
  }

  async #read(signal: AbortSignal, changed: () => void): Promise<void> {
    const backoff = new Backoff();
    while (!signal.aborted) {
      // A line that is not known to be up is tried with a read that does not wait: a person hears of it at once.
      const wait = this.#state === "connected" ? WAIT_MS_MAX : 0;
      const { taken, useful, outcome } = await this.round(wait, signal);
      if (signal.aborted) return;
      const pause = backoff.next(outcome);
      const before = this.#state;
      this.#state = pause === null ? "stopped" : pause === 0 ? "connected" : "unreachable";
      if (taken > 0 || this.#state !== before) changed();
      if (pause === null) {
        throw new CustosError(
          "daemon_unreachable",
          "The relay refuses this phone's mailbox. Nothing can come from the computer.",
        );
      }
      await sleep(taken > 0 ? backoff.page(useful > 0) : pause, signal);
    }
  }

  /** The relay lost its data: both mailboxes are made again, and everything pending is asked for. */
  async #heal(relay: RelayClient, record: PhoneRecord<K>): Promise<RelayOutcome<unknown>> {
    const made = await makeMailbox(relay, record.to_phone);
    if (made.kind !== "ok") return made;
    await makeMailbox(relay, record.to_daemon);
    await this.#change((one) => askSync({ ...one, read_after: 0 }, this.#parts.now()));
    return made;
  }

  /** `false` for a frame that was refused, or only answered as before. */
  async #take(
    relay: RelayClient,
    record: PhoneRecord<K>,
    frame: Uint8Array<ArrayBuffer>,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const { store } = this.#parts;
    const { answer, useful } = await store.update(this.daemon, async (one) => {
      const taken = await takeFrame(this.#parts, one, frame);
      return [taken.record, { answer: taken.answer, useful: taken.record.channel !== one.channel }];
    });
    if (answer !== null) await postTo(relay, record.to_daemon, answer, { signal });
    return useful;
  }

  #relayOf(record: PhoneRecord<K>): RelayClient {
    return this.#relay ??= new RelayClient({ url: record.relay, fetch: this.#parts.fetch });
  }

  async #change(change: (record: PhoneRecord<K>) => PhoneRecord<K>): Promise<void> {
    await this.#parts.store.update(
      this.daemon,
      (record) => Promise.resolve([change(record), undefined] as const),
    );
  }
}
