/**
 * Everything that needs cryptography, behind one dynamic import: the first screen is there before it is loaded, and shows
 * what was stored. One engine for the page; it owns the connections to all computers.
 */

import { CustosError } from "@custos/core/errors";
import type { PhoneMessage } from "@custos/core/messages";
import {
  approve,
  type CardVerdict,
  Connection,
  type ConnectionState,
  deny,
  drop,
  type DropFields,
  type Dropped,
  type Offer,
  offersFor,
  pair,
  type Paired,
  type PhoneParts,
  requireRecord,
  type ShownOffer,
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
  readonly #ended = new AbortController();

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
    connection.run(this.#ended.signal, tell).catch((error) => {
      if (error instanceof CustosError) this.#onChange(daemon, "stopped", error);
    });
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
    return verdict.ok && verdict.card.type !== "drop" ? offersFor(verdict.card) : [];
  }

  /** Approves with one touch. Throws what `approve` throws, and the browser's `DOMException` when it was cancelled. */
  async approve(daemon: string, requestHash: string, offer: Offer): Promise<void> {
    await approve(this.#parts, daemon, requestHash, offer);
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

  /** Sends a message that needs no touch: lock, revoke, mute. */
  async send(daemon: string, message: PhoneMessage): Promise<void> {
    await this.#line(daemon).send(message);
    this.#onChange(daemon, this.#line(daemon).state, null);
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
