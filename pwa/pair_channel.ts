/**
 * The channel of a phone that is not enrolled yet. Its state lives in memory only: a pairing that is interrupted leaves
 * nothing behind, and is begun anew.
 */

import type { Bytes } from "@custos/core/bytes";
import { newSession } from "@custos/core/channel";
import { type PhoneChannel, phoneReceive, phoneSend } from "@custos/core/channel_phone";
import { displayLine } from "@custos/core/display";
import { CustosError } from "@custos/core/errors";
import { pairingSecrets, rootKey } from "@custos/core/handshake";
import {
  type DaemonMessage,
  encodeMessage,
  type PhoneMessage,
  readDaemonMessage,
} from "@custos/core/messages";
import type { MailboxKeys, PairingKeys } from "@custos/core/pairing";
import { Backoff, type RelayClient } from "@custos/core/relay_client";
import { WAIT_MS_MAX } from "@custos/core/relay_wire";
import { makeMailbox, postTo, sleep, withSignal } from "./mailboxes.ts";
import type { PhoneParts } from "./phone_parts.ts";

/** A relay mailbox that is read from its start, with a time limit. */
export class MailboxReader {
  readonly #relay: RelayClient;
  readonly #keys: MailboxKeys;
  /** The relay's number of the last message that was given out. */
  cursor = 0;
  #page: { seq: number; data: Bytes }[] = [];

  constructor(relay: RelayClient, keys: MailboxKeys) {
    this.#relay = relay;
    this.#keys = keys;
  }

  /** The next message, or `null` when `signal` ended the wait. Throws `daemon_unreachable` where the relay refuses. */
  async next(signal: AbortSignal): Promise<Bytes | null> {
    const backoff = new Backoff();
    while (this.#page.length === 0) {
      if (signal.aborted) return null;
      const { id, read_token } = this.#keys;
      const options = { wait_ms: WAIT_MS_MAX, ...withSignal(signal) };
      let outcome: Awaited<ReturnType<RelayClient["createMailbox"]>>;
      const page = await this.#relay.read(id, read_token, this.cursor, options);
      if (page.kind === "ok") {
        this.#page = page.value;
        continue;
      }
      if (signal.aborted) return null;
      outcome = page;
      if (page.kind === "gone") {
        this.cursor = 0;
        outcome = await makeMailbox(this.#relay, this.#keys);
      }
      const pause = backoff.next(outcome);
      if (pause === null) {
        throw new CustosError("daemon_unreachable", "The relay refuses the mailbox of this pairing.");
      }
      await sleep(pause, signal);
    }
    const { seq, data } = this.#page.shift()!;
    this.cursor = seq;
    return data;
  }
}

/** The channel that a pairing made, before it is stored. */
export class PairChannel<K> {
  readonly #parts: Pick<PhoneParts<K>, "keeper">;
  readonly #relay: RelayClient;
  readonly #keys: PairingKeys;
  readonly #reader: MailboxReader;
  #state: PhoneChannel<K>;

  private constructor(
    parts: Pick<PhoneParts<K>, "keeper">,
    relay: RelayClient,
    keys: PairingKeys,
    state: PhoneChannel<K>,
  ) {
    this.#parts = parts;
    this.#relay = relay;
    this.#keys = keys;
    this.#state = state;
    this.#reader = new MailboxReader(relay, keys.to_phone);
  }

  /** Makes the mailboxes and the session of generation 0. The root in `keys` is kept and wiped. */
  static async open<K>(
    parts: Pick<PhoneParts<K>, "keeper">,
    relay: RelayClient,
    keys: PairingKeys,
  ): Promise<PairChannel<K>> {
    for (const mailbox of [keys.to_daemon, keys.to_phone]) {
      const made = await makeMailbox(relay, mailbox);
      if (made.kind !== "ok") {
        throw new CustosError("daemon_unreachable", "The relay cannot be reached. Try again.");
      }
    }
    const { id, secrets } = await pairingSecrets(await rootKey(keys.root), keys.transcript);
    const session = await newSession(parts.keeper, id, secrets);
    secrets.next_root.fill(0);
    const root = await parts.keeper.keep(keys.root, "root");
    keys.root.fill(0);
    const { channel } = keys;
    return new PairChannel(parts, relay, keys, {
      channel,
      generation: 0,
      root,
      session,
      pending: [],
      superseded: [],
      locked: null,
    });
  }

  /** The state to store, and how far the mailbox was read. */
  get stored(): { channel: PhoneChannel<K>; read_after: number } {
    return { channel: this.#state, read_after: this.#reader.cursor };
  }

  /** Sends one message. Throws `daemon_unreachable` when the relay did not take it. */
  async send(message: PhoneMessage, signal?: AbortSignal): Promise<void> {
    const sent = await phoneSend(this.#parts.keeper, this.#state, encodeMessage(message));
    if (sent === null) throw new CustosError("internal", "The pairing has no session to send in.");
    this.#state = sent.state;
    await this.#post(sent.frame, signal);
  }

  /**
   * The next message of this kind. Frames that cannot be opened and other messages are passed over. A daemon that says hello
   * has enrolled this phone and its word of that was lost, with the daemon or at the relay: it is told `again`. Throws
   * `pairing_refused` with the daemon's reason, or when the time is over.
   */
  async expect<T extends DaemonMessage["t"]>(
    kind: T,
    signal: AbortSignal,
    again?: PhoneMessage,
  ): Promise<Extract<DaemonMessage, { t: T }>> {
    for (;;) {
      const frame = await this.#reader.next(signal);
      if (frame === null) {
        throw new CustosError("pairing_refused", "The time for pairing is over. Begin again.");
      }
      const received = await phoneReceive(this.#parts.keeper, this.#state, frame);
      if (received.kind === "answer") {
        this.#state = received.state;
        await this.#post(received.frame, signal);
      }
      if (received.kind !== "message") continue;
      this.#state = received.state;
      const message = readDaemonMessage(received.plaintext);
      if (message.t === kind) return message as Extract<DaemonMessage, { t: T }>;
      if (message.t === "error") {
        throw new CustosError(
          "pairing_refused",
          `The computer refused: ${displayLine(message.message, 300)}`,
        );
      }
      if (again !== undefined && message.t === "hello") await this.send(again, signal);
    }
  }

  async #post(frame: Bytes, signal?: AbortSignal): Promise<void> {
    if (await postTo(this.#relay, this.#keys.to_daemon, frame, { tries: 5, signal })) return;
    throw new CustosError(
      "daemon_unreachable",
      "The relay did not take a message of this pairing. Try again.",
    );
  }
}
