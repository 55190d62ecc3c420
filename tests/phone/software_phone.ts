/**
 * The software phone: the phone's protocol code of `pwa` with a software authenticator and a store. Tests and the demo
 * use it in their own process; `main.ts` makes a command of it.
 *
 *     const phone = await SoftwarePhone.pair(url, { onWords: (words) => … });
 *     const card = await phone.nextCard();
 *     await phone.approve(card.doc.id);
 *     await phone.close();
 */

import { asCustosError, CustosError } from "@custos/core/errors";
import type { Grant } from "@custos/core/grant";
import type { PhoneMessage } from "@custos/core/messages";
import {
  approve,
  type CardVerdict,
  Connection,
  type ConnectionState,
  defaultOffer,
  deny,
  drop,
  type DropFields,
  type Dropped,
  isDecided,
  isRegistered,
  type Offer,
  pair,
  type PhoneParts,
  type PhoneRecord,
  type PhoneStore,
  prepareChange,
  requireCard,
  requireTrust,
  signChange,
  type StoredCard,
  type VerifiedCard,
  verifyCard,
} from "@custos/pwa";
import { SoftwareAuthenticator } from "./authenticator.ts";
import { Changes } from "./changes.ts";
import { type PairSetup, partsOf, type PhoneSetup, typedAgain } from "./phone_setup.ts";

export type { PairSetup, PhoneSetup };

/** How a decision ended. `status` is the daemon's word; `null` when it has not answered in time: it is still being sent. */
export interface Answer {
  request_id: string;
  fingerprint: string;
  status: StoredCard["status"] | null;
}

/** A request: by its id, its hash, or `"latest"`. */
export type Target = string;

/** How long to wait for the daemon's word about a decision, and for entries that a card needs, in milliseconds. */
const ANSWER_MS = 15_000;
const SETTLE_MS = 3_000;

/** A paired phone that is awake: it reads its mailbox until it is closed. */
export class SoftwarePhone {
  readonly daemon: string;
  readonly authenticator: SoftwareAuthenticator;
  /** The recovery sheet, only in the process that paired: nothing stores it. */
  recoverySheet: string | null = null;
  readonly #parts: PhoneParts<string>;
  readonly #connection: Connection<string>;
  readonly #ended = new AbortController();
  readonly #changes: Changes;
  readonly #seen = new Set<string>();
  #loop: Promise<void> = Promise.resolve();
  #failure: CustosError | null = null;

  private constructor(parts: PhoneParts<string>, authenticator: SoftwareAuthenticator, daemon: string) {
    this.#parts = parts;
    this.daemon = daemon;
    this.authenticator = authenticator;
    this.#connection = new Connection(parts, daemon);
    this.#changes = new Changes(this.#ended.signal);
  }

  /** Pairs with the daemon of a link and wakes up. Rejects with what `pair` of the protocol code throws. */
  static async pair(url: string, setup: PairSetup): Promise<SoftwarePhone> {
    const origin = URL.canParse(url) ? new URL(url).origin : "";
    const authenticator = setup.authenticator ?? new SoftwareAuthenticator(origin);
    const parts = partsOf(setup, authenticator);
    let sheet: string | null = null;
    const paired = await pair(parts, {
      url,
      origin,
      rp_id: new URL(origin).hostname,
      device_name: setup.device_name ?? "software phone",
      platform: Deno.build.os,
      onWords: setup.onWords,
      proveRecoverySheet: async (text) => {
        sheet = text;
        return await (setup.proveRecoverySheet ?? typedAgain)(text);
      },
      ...(setup.signal === undefined ? {} : { signal: setup.signal }),
    });
    const phone = new SoftwarePhone(parts, authenticator, paired.daemon);
    phone.recoverySheet = sheet;
    return phone.#start();
  }

  /** Wakes up a phone that is paired. Without `daemon` it must be paired with exactly one. */
  static async open(
    setup: PhoneSetup & { store: PhoneStore<string>; authenticator: SoftwareAuthenticator },
    daemon?: string,
  ): Promise<SoftwarePhone> {
    const known = await setup.store.daemons();
    const chosen = daemon ?? known[0];
    if (chosen === undefined || (daemon === undefined && known.length > 1)) {
      throw new CustosError(
        "no_device",
        known.length === 0
          ? "This phone is not paired. Pair it: phone pair <link>"
          : "This phone is paired with several computers. Use one --state folder for each.",
      );
    }
    const phone = new SoftwarePhone(partsOf(setup, setup.authenticator), setup.authenticator, chosen);
    await phone.#connection.wake();
    return phone.#start();
  }

  /** Where this phone keeps its record. */
  get store(): PhoneStore<string> {
    return this.#parts.store;
  }

  /** How the line to the relay is. */
  get state(): ConnectionState {
    return this.#connection.state;
  }

  /** The whole record, as stored. */
  async record(): Promise<PhoneRecord<string>> {
    return await this.#connection.record();
  }

  /** Stored cards, oldest first. */
  async cards(): Promise<StoredCard[]> {
    return (await this.record()).cards;
  }

  /** Cards that wait for this person: pending, shown, and not answered on this phone yet. */
  async pending(): Promise<StoredCard[]> {
    const record = await this.record();
    return record.cards.filter((card) =>
      card.status === "pending" && card.held === null && !isDecided(record, card.request_hash)
    );
  }

  /**
   * The next pending card that was not returned before. A card whose secret is not in the log yet is given a moment.
   * Throws `bad_request` with the reason when it is one that must not be approved, `expired` when none came in time.
   */
  async nextCard(options: { timeout_ms?: number; type?: VerifiedCard["type"] } = {}): Promise<VerifiedCard> {
    const { type, timeout_ms = 30_000 } = options;
    const wanted = (card: StoredCard) =>
      !this.#seen.has(card.request_hash) && (type === undefined || card.message.doc.type === type);
    const stored = await this.when(async () => (await this.pending()).find(wanted) ?? null, timeout_ms);
    if (stored === null) throw new CustosError("expired", "No card came in time.");
    this.#seen.add(stored.request_hash);
    const verdict = await this.verified(stored);
    if (verdict.ok) return verdict.card;
    throw new CustosError("bad_request", verdict.message).withRequest(stored.message.doc.id, stored.words);
  }

  /** The verdict about a card. Waits a moment where the log's entries may still be on their way. */
  async verified(stored: StoredCard): Promise<CardVerdict> {
    const late = new Set(["unknown_secret", "not_latest_policy", "not_latest_header"]);
    const settled = await this.when(async () => {
      const verdict = await verifyCard(await this.record(), stored.message);
      return verdict.ok || !late.has(verdict.why) ? verdict : null;
    }, SETTLE_MS);
    return settled ?? await verifyCard(await this.record(), stored.message);
  }

  /** Approves an access or http card; without an offer, the narrowest (http) or what was asked (access). */
  async approve(target: Target = "latest", offer?: Offer): Promise<Answer & { grant: Grant }> {
    const stored = await this.find(target);
    await this.verified(stored);
    const card = await requireCard(await this.record(), stored.request_hash);
    const chosen = offer ??
      (card.type === "http" || card.type === "access" ? defaultOffer(card) : { kind: "once" } as const);
    const grant = await approve(this.#parts, this.daemon, stored.request_hash, chosen);
    return { ...await this.#answer(stored), grant };
  }

  /** Denies a card. */
  async deny(target: Target = "latest", mute_until_ms: number | null = null): Promise<Answer> {
    const stored = await this.find(target);
    await deny(this.#parts, this.daemon, stored.request_hash, mute_until_ms);
    return await this.#answer(stored);
  }

  /** Answers a drop card. `value` is wiped. */
  async drop(target: Target, fields: DropFields, value: Uint8Array): Promise<Answer & { dropped: Dropped }> {
    const stored = await this.find(target);
    const dropped = await drop(this.#parts, this.daemon, stored.request_hash, fields, value);
    const answer = await this.#answer(stored);
    if (answer.status === "delivered") {
      await this.when(async () => isRegistered(await this.record(), dropped) || null, SETTLE_MS);
    }
    return { ...answer, dropped };
  }

  /** Answers the card of a policy change: one touch to open where there is a new version, one to sign. */
  async change(target: Target = "latest"): Promise<Answer> {
    const stored = await this.find(target);
    const prepared = await prepareChange(this.#parts, this.daemon, stored.request_hash);
    await signChange(this.#parts, this.daemon, prepared);
    return await this.#answer(stored);
  }

  /** Sends a message that needs no touch: `change`, `activity`, `mute`, `revoke`. */
  async say(message: PhoneMessage): Promise<void> {
    requireTrust(await this.record());
    await this.#connection.send(message);
  }

  /** Ends every grant on the computer. */
  async lock(): Promise<void> {
    await this.say({ t: "lock" });
  }

  /** Asks for everything pending. `false` when the computer did not answer in time. */
  async sync(timeout_ms: number): Promise<boolean> {
    const before = (await this.record()).syncs;
    await this.#connection.wake();
    await this.#connection.flush();
    return await this.when(async () => (await this.record()).syncs > before || null, timeout_ms) ?? false;
  }

  /** The stored card of a target. Throws `unknown_request`. */
  async find(target: Target): Promise<StoredCard> {
    const cards = await this.cards();
    const found = target === "latest"
      ? (await this.pending()).at(-1)
      : cards.find((card) => card.message.doc.id === target || card.request_hash === target);
    if (found !== undefined) return found;
    throw new CustosError(
      "unknown_request",
      target === "latest"
        ? "No card is pending on this phone."
        : "This phone has no card of that request. List them: phone cards",
    );
  }

  /**
   * The first value that is not `null`, looked for at once, after each change, and now and then for changes that another
   * process made. `null` when the time is over. Throws what ended the line to the relay.
   */
  async when<T>(look: () => Promise<T | null>, timeout_ms: number): Promise<T | null> {
    const until = performance.now() + timeout_ms;
    for (;;) {
      const { count } = this.#changes;
      const found = await look();
      if (found !== null) return found;
      if (this.#failure !== null) throw this.#failure;
      if (performance.now() >= until || this.#ended.signal.aborted) return null;
      await this.#changes.after(count, Math.max(0, until - performance.now()));
    }
  }

  /** Stops reading. What waits in the outbox is sent when the phone is opened again. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#loop;
  }

  /** The daemon's word about a decision that is in the outbox. */
  async #answer(stored: StoredCard): Promise<Answer> {
    await this.#connection.flush();
    this.#changes.announce();
    const look = async () => {
      const card = (await this.cards()).find((one) => one.request_hash === stored.request_hash);
      if (card === undefined || card.status === "pending" || card.status === "over") {
        if (card !== undefined && card.error !== null) {
          throw new CustosError("bad_request", card.error.message).withRequest(
            card.message.doc.id,
            card.words,
          );
        }
        return null;
      }
      return card.status;
    };
    const status = await this.when(look, ANSWER_MS);
    return { request_id: stored.message.doc.id, fingerprint: stored.words, status };
  }

  #start(): this {
    this.#loop = this.#connection.run(this.#ended.signal, () => this.#changes.announce()).catch((error) => {
      this.#failure = asCustosError(error);
      this.#changes.announce();
    });
    return this;
  }
}
