/**
 * Everything that needs cryptography, behind one dynamic import: the first screen is there before it is loaded, and shows
 * what was stored. One engine for the page; it owns the connections to all computers.
 */

import { CustosError } from "@custos/core/errors";
import { WORD_LIST } from "@custos/core/fingerprint";
import type { PhoneMessage } from "@custos/core/messages";
import type { Policy } from "@custos/core/policy";
import {
  type CardVerdict,
  Connection,
  type ConnectionState,
  deny,
  drop,
  type DropFields,
  type Dropped,
  narrowable,
  nextPolicy,
  type Offer,
  offersFor,
  pair,
  type Paired,
  type PhoneParts,
  type PolicyEdit,
  prepareApproval,
  prepareChange,
  type PreparedApproval,
  type PreparedChange,
  requireRecord,
  type ShownOffer,
  showOffer,
  signApproval,
  signChange,
  type StoredCard,
  verifyCard,
} from "../mod.ts";
import { BROWSER_KEEPER } from "./platform/browser_keeper.ts";
import { BROWSER_PASSKEY } from "./platform/browser_passkey.ts";
import type { IdbStore } from "./platform/idb_store.ts";

/** The version that daemons read in their logs. */
export const BUILD = "custos-pwa/0.1.0";

/** What pairing asks the person for. */
export interface PairSteps {
  onWords: (words: string) => void;
  /** Shows the recovery sheet, and proves that it was kept. */
  proveRecoverySheet: (sheet: string) => Promise<boolean>;
  device_name: string;
  platform: string;
  signal: AbortSignal;
}

/** What changed: a computer's record, or its line. */
export type OnChange = (daemon: string, line: ConnectionState, trouble: CustosError | null) => void;

/** The engine. */
export class Engine {
  readonly #parts: PhoneParts<CryptoKey>;
  readonly #onChange: OnChange;
  readonly #connections = new Map<string, Connection<CryptoKey>>();
  readonly #ended = new Map<string, AbortController>();

  constructor(store: IdbStore, onChange: OnChange) {
    this.#onChange = onChange;
    this.#parts = {
      store,
      keeper: BROWSER_KEEPER,
      authenticator: BROWSER_PASSKEY,
      fetch: (url, init) => fetch(url, init),
      now: Date.now,
      build: BUILD,
    };
  }

  /** Begins to read the mailbox of a computer; once. */
  async connect(daemon: string): Promise<void> {
    if (this.#connections.has(daemon)) return;
    const connection = new Connection(this.#parts, daemon);
    this.#connections.set(daemon, connection);
    await connection.wake();
    const tell = () => this.#onChange(daemon, connection.state, null);
    tell();
    const ended = new AbortController();
    this.#ended.set(daemon, ended);
    connection.run(ended.signal, tell).catch((error) => {
      if (error instanceof CustosError && !ended.signal.aborted) this.#onChange(daemon, "stopped", error);
    });
  }

  /** Stops reading the mailbox of a computer. */
  disconnect(daemon: string): void {
    this.#ended.get(daemon)?.abort();
    this.#connections.delete(daemon);
  }

  /** Asks every computer for what is pending: after sleep, after a push, when the screen comes back. */
  async wake(): Promise<void> {
    for (const [daemon, connection] of this.#connections) {
      await connection.wake().catch(() => {});
      await connection.flush().catch(() => {});
      this.#onChange(daemon, connection.state, null);
    }
  }

  /** Pairs with the computer of a link. Throws what `pair` throws; nothing is stored then. */
  async pair(url: string, steps: PairSteps): Promise<Paired> {
    const { origin, hostname } = location;
    const paired = await pair(this.#parts, { url, origin, rp_id: hostname, ...steps });
    await this.connect(paired.daemon);
    return paired;
  }

  /** Whether a card may be approved, with everything that is to be shown of it. */
  async verify(daemon: string, card: StoredCard): Promise<CardVerdict> {
    return await verifyCard(await requireRecord(this.#parts.store, daemon), card.message);
  }

  /** The choices of a verified card, narrowest first. */
  offers(verdict: CardVerdict): ShownOffer[] {
    const { card } = verdict.ok ? verdict : { card: null };
    if (card?.type === "http") return offersFor(card);
    if (card?.type !== "access") return [];
    const narrow = narrowable(card);
    return narrow === null ? offersFor(card) : [...offersFor(card), showOffer(card, narrow)];
  }

  /** An offer that a person has changed, with its new label. */
  offer(verdict: CardVerdict, offer: Offer): ShownOffer {
    const { card } = verdict.ok ? verdict : { card: null };
    return card?.type === "http" || card?.type === "access" ? showOffer(card, offer) : { offer, label: "" };
  }

  /** Makes an approval ready for its touch: a tap then asks the passkey at once (B122). */
  async prepare(daemon: string, requestHash: string, offer: Offer): Promise<PreparedApproval> {
    return await prepareApproval(this.#parts, daemon, requestHash, offer);
  }

  /** Approves with one touch. Throws what `signApproval` throws, and the browser's `DOMException` when it was cancelled. */
  async approve(daemon: string, prepared: PreparedApproval): Promise<void> {
    await signApproval(this.#parts, daemon, prepared);
    await this.#flush(daemon);
  }

  /** Denies; `muteUntilMs` also silences this agent. */
  async deny(daemon: string, requestHash: string, muteUntilMs: number | null): Promise<void> {
    await deny(this.#parts, daemon, requestHash, muteUntilMs);
    await this.#flush(daemon);
  }

  /** Answers a drop. `value` is wiped. */
  async drop(daemon: string, requestHash: string, fields: DropFields, value: Uint8Array): Promise<Dropped> {
    const dropped = await drop(this.#parts, daemon, requestHash, fields, value);
    await this.#flush(daemon);
    return dropped;
  }

  /** Asks the computer for a card that changes a secret: these fields, or `null` for its end. */
  async beginChange(daemon: string, policy: Policy, edit: PolicyEdit | null): Promise<void> {
    const change = edit === null
      ? { kind: "delete" } as const
      : { kind: "set", policy: await nextPolicy(policy, edit, Date.now()) } as const;
    await this.send(daemon, { t: "change", secret_id: policy.secret_id, change });
  }

  /** Makes a change ready to be signed; one touch where there is a new version. Throws what `prepareChange` throws. */
  async prepareChange(daemon: string, requestHash: string): Promise<PreparedChange> {
    return await prepareChange(this.#parts, daemon, requestHash);
  }

  /** Signs a change with one touch. */
  async signChange(daemon: string, prepared: PreparedChange): Promise<void> {
    await signChange(this.#parts, daemon, prepared);
    await this.#flush(daemon);
  }

  /** Sends a message that needs no touch, and asks how things are then: lock, revoke, mute, activity. */
  async send(daemon: string, message: PhoneMessage): Promise<void> {
    const line = this.#line(daemon);
    await line.send(message);
    if (message.t === "lock" || message.t === "revoke") {
      await line.wake().then(() => line.flush()).catch(() => {});
    }
    this.#onChange(daemon, line.state, null);
  }

  /** Four words, the right one among them, in an order that says nothing. */
  wordChoices(right: string): string[] {
    const others = new Set<string>([right]);
    while (others.size < 4) others.add(WORD_LIST[draw(WORD_LIST.length)]!);
    const words = [...others];
    for (let at = words.length - 1; at > 0; at--) {
      const other = draw(at + 1);
      [words[at], words[other]] = [words[other]!, words[at]!];
    }
    return words;
  }

  async #flush(daemon: string): Promise<void> {
    await this.#line(daemon).flush().catch(() => {}); // it stays in the outbox, and is sent again
    this.#onChange(daemon, this.#line(daemon).state, null);
  }

  #line(daemon: string): Connection<CryptoKey> {
    const connection = this.#connections.get(daemon);
    if (connection === undefined) {
      throw new CustosError("no_device", "This phone is not paired with that computer.");
    }
    return connection;
  }
}

/** A random index below `count`; the bias of the modulo is below 2⁻¹⁹ for a list of words. */
function draw(count: number): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]! % count;
}
