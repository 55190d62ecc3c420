/**
 * Pairing of the first phone, from the daemon's side (DESIGN §7). A wrong, late or second answer is refused without a
 * trace in what is stored; the one-time secret is not used up by anybody who cannot open the commitment.
 */

import { generateHybridIdentity, identityToRecipient } from "age-encryption";
import { type Bytes, fromBase64url, randomBytes, toBase64url } from "@custos/core/bytes";
import type { DaemonRun } from "@custos/core/channel_daemon";
import { newSession } from "@custos/core/channel";
import { openWithIdentity } from "@custos/core/custody";
import { asCustosError, CustosError } from "@custos/core/errors";
import { pairingSecrets, rootKey } from "@custos/core/handshake";
import { newId } from "@custos/core/ids";
import {
  encodePairMessage,
  type MailboxKeys,
  opensCommitment,
  PAIRING_ATTEMPTS,
  PAIRING_ENROL_MS,
  PAIRING_OPEN_MS,
  type PairingKeys,
  pairingKeys,
  pairingUrl,
  type PairMessage,
  pairRecipientHash,
  readPairMessage,
  readReveal,
  rendezvousMailboxes,
} from "@custos/core/pairing";
import type { PhoneMessage } from "@custos/core/messages";
import { Backoff, type RelayClient } from "@custos/core/relay_client";
import { hashToken } from "@custos/core/relay_wire";
import { ChannelLine, KEEPER } from "./channel_line.ts";
import { type Enrolled, Enrolment, type EnrolmentParts } from "./enrolment.ts";

/** Where a pairing stands, as `pair.status` says it. */
export type PairState = "waiting" | "confirm" | "registering" | "done" | "failed";

/** What pairing needs. */
export interface PairingParts extends EnrolmentParts {
  client: RelayClient;
  relayUrl: string;
  /** The phone is enrolled and stored; `line` is its channel, already running. */
  onEnrolled: (enrolled: Enrolled, line: ChannelLine) => void;
}

/** One pairing, from the code to the enrolled phone. */
export class Pairing {
  readonly id: string = newId();
  readonly expires_ms: number = Date.now() + PAIRING_OPEN_MS;
  state: PairState = "waiting";
  device_name: string | null = null;
  reason: string | null = null;
  url = "";
  readonly #parts: PairingParts;
  readonly #ended = new AbortController();
  readonly #changed = new Set<() => void>();
  #attempts = PAIRING_ATTEMPTS;
  #keys: PairingKeys | null = null;
  #line: ChannelLine | null = null;
  #deadline: ReturnType<typeof setTimeout> | undefined;
  /** The mailboxes of the code, which are worth nothing once it was used or is too old (B137). */
  #rendezvous: MailboxKeys[] = [];

  private constructor(parts: PairingParts) {
    this.#parts = parts;
  }

  /** Draws the one-time keys and starts to listen. Throws `pairing_refused` if the first phone is enrolled already. */
  static async begin(parts: PairingParts): Promise<Pairing> {
    if (parts.policies.state.size > 0) {
      throw new CustosError(
        "pairing_refused",
        "A phone is paired with this daemon already. Another one needs its approval, which this version cannot ask yet.",
      );
    }
    const pairing = new Pairing(parts);
    const identity = await generateHybridIdentity();
    const recipient = await identityToRecipient(identity);
    const secret = randomBytes(16);
    const rendezvous = newId();
    pairing.url = pairingUrl(parts.phoneOrigin.origin, {
      relay: parts.relayUrl,
      rendezvous,
      recipient_sha256: await pairRecipientHash(recipient),
      secret: toBase64url(secret),
      expires_ms: pairing.expires_ms,
    });
    pairing.#deadline = setTimeout(() => pairing.fail("the time for pairing is over"), PAIRING_OPEN_MS);
    pairing.#meet(identity, recipient, secret, rendezvous).catch((error) =>
      pairing.fail(asCustosError(error).message)
    );
    return pairing;
  }

  /**
   * Resolves when the state changes, after `waitMs`, or when `signal` aborts; at once where the phone has done its part,
   * so that a caller who asks a moment too late does not wait for nothing.
   */
  async changed(waitMs: number, signal: AbortSignal): Promise<void> {
    if (waitMs <= 0 || (this.state !== "waiting" && this.state !== "registering")) return;
    const change = Promise.withResolvers<void>();
    const timer = setTimeout(change.resolve, waitMs);
    this.#changed.add(change.resolve);
    signal.addEventListener("abort", () => change.resolve(), { once: true });
    await change.promise;
    clearTimeout(timer);
    this.#changed.delete(change.resolve);
  }

  /**
   * Takes the first word that the phone shows. Throws `pairing_refused`: not there yet, or wrong; after the third wrong
   * word the pairing is void.
   */
  async confirm(word: string): Promise<void> {
    if (this.state !== "confirm" || this.#keys === null) {
      throw new CustosError("pairing_refused", "No phone waits for its word now. Run custos pair again.");
    }
    if (word.trim().toLowerCase() !== this.#keys.words.split(" ")[0]) {
      this.#attempts--;
      if (this.#attempts <= 0) this.fail("the word was wrong three times");
      throw new CustosError(
        "pairing_refused",
        this.#attempts > 0
          ? "This is not the first word on the phone. Look again; if it is, somebody is between you and the phone."
          : "The word was wrong three times, so this pairing is void. Run custos pair again.",
      );
    }
    this.#set("registering");
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.fail("the time for making the passkey is over"), PAIRING_ENROL_MS);
    await this.#openChannel(this.#keys);
  }

  /** Ends the pairing without a result. What it stored is nothing. */
  fail(reason: string): void {
    if (this.state === "done" || this.state === "failed") return;
    this.reason = reason;
    this.#parts.audit.write({ event: "pairing_failed", why: reason.slice(0, 128) });
    this.#end("failed");
    this.#line?.stop();
  }

  #end(state: "done" | "failed"): void {
    clearTimeout(this.#deadline);
    this.#keys = null;
    this.#ended.abort();
    for (const { id, read_token } of this.#rendezvous) {
      this.#parts.client.remove(id, read_token).catch(() => {});
    }
    this.#set(state);
  }

  #set(state: PairState): void {
    this.state = state;
    for (const listener of [...this.#changed]) listener();
  }

  /** Steps 1 to 4: the first commitment is answered; the first reveal that opens it is the phone. */
  async #meet(identity: string, recipient: string, secret: Bytes, rendezvous: string): Promise<void> {
    const { client } = this.#parts;
    const boxes = await rendezvousMailboxes(secret, rendezvous);
    this.#rendezvous = [boxes.to_daemon, boxes.to_phone];
    for (const keys of this.#rendezvous) {
      const made = await client.createMailbox(
        keys.id,
        await hashToken(keys.read_token),
        await hashToken(keys.write_token),
      );
      if (made.kind !== "ok") {
        throw new CustosError("pairing_refused", "The relay cannot be reached. Start it and try again.");
      }
    }
    const nonce = toBase64url(randomBytes(32));
    let commit: string | null = null;
    let cursor = 0;
    const backoff = new Backoff();
    while (!this.#ended.signal.aborted) {
      const { id, read_token } = boxes.to_daemon;
      const page = await client.read(id, read_token, cursor, { wait_ms: 10_000, signal: this.#ended.signal });
      if (page.kind !== "ok") {
        await pauseFor(500, this.#ended.signal);
        continue;
      }
      let useful = false;
      for (const { seq, data } of page.value) {
        cursor = seq;
        const message = readQuietly(data);
        if (message?.t === "commit" && commit === null) {
          useful = true;
          commit = message.c;
          const answer = encodePairMessage({ v: 1, t: "key", recipient, nonce });
          await client.post(boxes.to_phone.id, boxes.to_phone.write_token, answer, {
            ttl_ms: PAIRING_OPEN_MS,
          });
        } else if (message?.t === "reveal" && commit !== null) {
          const keys = await this.#reveal(identity, {
            c: commit,
            recipient,
            nonce,
            sealed: message.sealed,
            secret,
          });
          if (keys === null) continue; // it does not open the commitment: not the phone that committed
          this.#keys = keys;
          this.#set("confirm");
          return;
        }
      }
      if (page.value.length === 0) continue;
      // Whoever saw the code can fill this mailbox, and the phone's own answer must still find room in it (B135, B153).
      await client.ack(id, read_token, cursor);
      await pauseFor(backoff.page(useful), this.#ended.signal);
    }
  }

  async #reveal(
    identity: string,
    parts: { c: string; recipient: string; nonce: string; sealed: string; secret: Bytes },
  ): Promise<PairingKeys | null> {
    try {
      const sealed = fromBase64url(parts.sealed);
      const reveal = readReveal(await openWithIdentity(identity, sealed ?? new Uint8Array(0)));
      if (!await opensCommitment(parts.c, reveal)) return null;
      this.device_name = reveal.device_name;
      return await pairingKeys({ ...parts, phoneKey: fromBase64url(reveal.key)! });
    } catch {
      return null;
    }
  }

  /** Steps 5 to 7 happen inside the channel that the transcript made. */
  async #openChannel(keys: PairingKeys): Promise<void> {
    const { id, secrets } = await pairingSecrets(await rootKey(keys.root), keys.transcript);
    const state = { channel: keys.channel, generation: 0, root: keys.root, next: null };
    const session = await newSession(KEEPER, id, secrets);
    const run: DaemonRun<Bytes> = { state, id, identity: "", offer: new Uint8Array(0), session };
    const enrolment = new Enrolment(this.#parts, keys);
    const mailboxes = { to_daemon: keys.to_daemon, to_phone: keys.to_phone };
    const line: ChannelLine = new ChannelLine(this.#parts.client, mailboxes, run, 0, {
      saveState: () => {},
      saveCursor: () => {},
      onRefused: () => {},
      onUp: async () => void await line.send(enrolment.ready()),
      onMessage: (message) => this.#register(enrolment, line, message),
    });
    this.#line = line;
    line.loop();
  }

  async #register(enrolment: Enrolment, line: ChannelLine, message: PhoneMessage): Promise<void> {
    if (this.state !== "registering") return;
    try {
      if (message.t === "error") {
        throw new CustosError("pairing_refused", "The phone gave up. Run custos pair again.");
      }
      if (message.t !== "register") return;
      const enrolled = await enrolment.take(message, line.run.state, line.cursor);
      this.#parts.onEnrolled(enrolled, line);
      await line.send(enrolled.reply);
      this.#end("done");
    } catch (error) {
      const { kind, message: text } = asCustosError(error);
      await line.send({ t: "error", code: kind, about: null, message: text.slice(0, 500) }).catch(() =>
        false
      );
      this.fail(text);
    }
  }
}

/** Waits, or ends early when the pairing does. */
async function pauseFor(ms: number, ended: AbortSignal): Promise<void> {
  if (ms === 0 || ended.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  ended.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}

function readQuietly(bytes: Bytes): PairMessage | null {
  try {
    return readPairMessage(bytes);
  } catch {
    return null; // anybody who saw the code can post here; what does not read does not count
  }
}
