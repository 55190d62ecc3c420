/**
 * Where a relay keeps its mailboxes. Everything that must outlive a request is behind this interface, so that many relay
 * instances can share one store and nothing of an instance matters when it dies (DESIGN §8). `store_contract.ts` holds the
 * tests that every store passes.
 */

import type { MailboxHashes } from "@custos/core/relay_wire";

/** A value now or later: a store on a local disk need not pretend to be slow. */
export type Later<T> = T | Promise<T>;

/** A stored message. */
export interface StoredMessage {
  seq: number;
  posted_ms: number;
  data: Uint8Array<ArrayBuffer>;
}

/** What came of {@link Store.append}. */
export type Appended = { kind: "stored"; seq: number; expires_ms: number } | { kind: "full" } | {
  kind: "gone";
};

/**
 * A store. Ids, hashes and sizes come already checked. A method that changes something returns after the change is
 * durable. What fails for reasons of the store itself (disk, network) throws.
 */
export interface Store {
  /** Makes a mailbox. Same hashes again: `same`; other hashes: `conflict`, and nothing changes. */
  putMailbox(id: string, hashes: MailboxHashes): Later<"created" | "same" | "conflict" | "full">;

  /** The hashes of a mailbox, or `null` where there is none. */
  mailbox(id: string): Later<MailboxHashes | null>;

  /**
   * Adds a message for `ttl_ms`. Numbers grow strictly within a mailbox for as long as it lives, and a mailbox that is
   * made anew starts above all numbers of its former life, so that a reader's old position hides nothing (B152).
   */
  append(id: string, data: Uint8Array<ArrayBuffer>, ttl_ms: number): Later<Appended>;

  /**
   * Messages above `after` that have not expired, lowest number first, at most a page (`PAGE_MESSAGES_MAX`,
   * `PAGE_BYTES_MAX`); `null` where there is no mailbox. A position above the last number is one of a life that was lost:
   * it reads from the start.
   */
  read(id: string, after: number): Later<StoredMessage[] | null>;

  /** Forgets messages up to `through`; a position above the last number forgets nothing. `false`: no mailbox. */
  ack(id: string, through: number): Later<boolean>;

  /** Removes a mailbox and all that it holds. `false`: there was none. */
  remove(id: string): Later<boolean>;

  /** Keeps a Web Push subscription (JSON) with the mailbox, in place of an earlier one. `false`: no mailbox. */
  putPush(id: string, subscription: string): Later<boolean>;

  /** Forgets that subscription, if it is still the one that is kept: a phone may have sent another meanwhile. */
  removePush(id: string, subscription: string): Later<void>;

  /** The subscription kept with the mailbox, or `null`. */
  push(id: string): Later<string | null>;

  /** Calls `wake` after each message that any instance adds, and when the mailbox is removed, until the result is called. */
  watch(id: string, wake: () => void): () => void;

  /** Removes some of what has expired, and mailboxes that were idle too long. Returns how many rows; 0 when done. */
  sweep(): Later<number>;

  /** Throws where the store cannot be used. */
  ping(): Later<void>;

  /** Finishes what was begun and lets go of everything. */
  close(): Later<void>;
}
