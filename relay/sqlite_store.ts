/**
 * Mailboxes in one SQLite file, the default store. Changes that come together are committed together: one flush to disk
 * serves them all, and nobody gets an answer before it (DESIGN §15).
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers";
import { type MailboxHashes, PAGE_BYTES_MAX, PAGE_MESSAGES_MAX } from "@custos/core/relay_wire";
import { DEFAULT_LIMITS, type RelayLimits } from "./limits.ts";
import { openDatabase } from "./sqlite_schema.ts";
import type { Appended, Store, StoredMessage } from "./store.ts";
import { Wakers } from "./wakers.ts";

/** A mailbox's `used_ms` is this exact, so that reading does not mean writing. */
const USE_STEP_MS = 24 * 60 * 60 * 1000;
const SWEEP_ROWS = 1000;

/** Settings of {@link SqliteStore}. `now` is the wall clock in milliseconds. */
export interface SqliteStoreOptions {
  limits?: Partial<RelayLimits>;
  now?: () => number;
}

interface Mailbox extends MailboxHashes {
  last_seq: number;
  messages: number;
  bytes: number;
  used_ms: number;
}

interface Change {
  /** Makes the change; returns what tells the caller after the commit. */
  run: () => () => void;
  fail: (error: unknown) => void;
}

/** A {@link Store} on `node:sqlite`. Needs read and write permission for its folder, nothing else. */
export class SqliteStore implements Store {
  readonly #db: DatabaseSync;
  readonly #limits: RelayLimits;
  readonly #now: () => number;
  readonly #sql: Statements;
  readonly #wakers: Wakers = new Wakers();
  #waiting: Change[] = [];

  /** Opens or makes the store in `folder`. Throws `StartError`. */
  constructor(folder: string, options: SqliteStoreOptions = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#now = options.now ?? Date.now;
    this.#db = openDatabase(folder);
    this.#sql = statements(this.#db);
  }

  putMailbox(id: string, hashes: MailboxHashes): Promise<"created" | "same" | "conflict" | "full"> {
    return this.#change(() => {
      const found = this.#mailbox(id);
      if (found !== undefined) {
        this.#touch(id, found);
        const same = found.read_hash === hashes.read_hash && found.write_hash === hashes.write_hash;
        return same ? "same" : "conflict";
      }
      if (this.#totals().mailboxes >= this.#limits.mailboxes_max) return "full";
      const now = this.#now();
      // a new life counts from its microsecond on: above every number of an earlier one (B152)
      this.#sql.addMailbox.run(id, hashes.read_hash, hashes.write_hash, now * 1000, now);
      return "created";
    });
  }

  mailbox(id: string): MailboxHashes | null {
    const found = this.#mailbox(id);
    return found === undefined ? null : { read_hash: found.read_hash, write_hash: found.write_hash };
  }

  async append(id: string, data: Uint8Array<ArrayBuffer>, ttl_ms: number): Promise<Appended> {
    const appended = await this.#change((): Appended => {
      const now = this.#now();
      let mailbox = this.#mailbox(id);
      if (mailbox !== undefined && !this.#fits(mailbox, data)) {
        this.#sql.expireOf.run(id, now); // the expired are swept later, but must not stand in the way until then
        mailbox = this.#mailbox(id);
      }
      if (mailbox === undefined) return { kind: "gone" };
      if (!this.#fits(mailbox, data)) return { kind: "full" };
      const seq = mailbox.last_seq + 1;
      this.#sql.addMessage.run(id, seq, now, now + ttl_ms, data);
      return { kind: "stored", seq, expires_ms: now + ttl_ms };
    });
    if (appended.kind === "stored") this.#wakers.wake(id);
    return appended;
  }

  read(id: string, after: number): StoredMessage[] | null {
    const mailbox = this.#mailbox(id);
    if (mailbox === undefined) return null;
    if (this.#stale(mailbox)) void this.#change(() => this.#touch(id, mailbox)).catch(() => {}); // next read tries again
    const from = after > mailbox.last_seq ? 0 : after;
    const page: StoredMessage[] = [];
    let bytes = 0;
    for (const row of this.#sql.page.iterate(id, from, this.#now(), PAGE_MESSAGES_MAX)) {
      const message = { ...row } as unknown as StoredMessage;
      bytes += message.data.length;
      if (page.length > 0 && bytes > PAGE_BYTES_MAX) break;
      page.push(message);
    }
    return page;
  }

  ack(id: string, through: number): Promise<boolean> {
    return this.#change(() => {
      const mailbox = this.#mailbox(id);
      if (mailbox === undefined) return false;
      if (through <= mailbox.last_seq) this.#sql.ack.run(id, through);
      return true;
    });
  }

  async remove(id: string): Promise<boolean> {
    const removed = await this.#change(() => this.#sql.removeMailbox.run(id).changes === 1);
    if (removed) this.#wakers.wake(id);
    return removed;
  }

  putPush(id: string, subscription: string): Promise<boolean> {
    return this.#change(() => this.#sql.putPush.run(subscription, id).changes === 1);
  }

  removePush(id: string, subscription: string): Promise<void> {
    return this.#change(() => void this.#sql.removePush.run(id, subscription));
  }

  push(id: string): string | null {
    return (this.#sql.push.get(id)?.["push"] ?? null) as string | null;
  }

  watch(id: string, wake: () => void): () => void {
    return this.#wakers.watch(id, wake);
  }

  sweep(): Promise<number> {
    return this.#change(() => {
      const now = this.#now();
      const expired = Number(this.#sql.expire.run(now, SWEEP_ROWS).changes);
      return expired +
        Number(this.#sql.removeIdle.run(now - this.#limits.mailbox_idle_ms, SWEEP_ROWS).changes);
    });
  }

  ping(): void {
    this.#totals();
  }

  close(): void {
    if (!this.#db.isOpen) return;
    this.#commit();
    this.#db.close();
  }

  #mailbox(id: string): Mailbox | undefined {
    return this.#sql.mailbox.get(id) as unknown as Mailbox | undefined;
  }

  #totals(): { mailboxes: number; bytes: number } {
    return this.#sql.totals.get() as unknown as { mailboxes: number; bytes: number };
  }

  #fits(mailbox: Mailbox, data: Uint8Array): boolean {
    return mailbox.messages < this.#limits.mailbox_messages_max &&
      mailbox.bytes + data.length <= this.#limits.mailbox_bytes_max &&
      this.#totals().bytes + data.length <= this.#limits.store_bytes_max;
  }

  #stale(mailbox: Mailbox): boolean {
    return mailbox.used_ms < this.#now() - USE_STEP_MS;
  }

  #touch(id: string, mailbox: Mailbox): void {
    if (this.#stale(mailbox)) this.#sql.touch.run(this.#now(), id);
  }

  /** Runs `change` in the next commit. Rejects where that commit fails; then nothing of it has happened. */
  #change<T>(change: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = () => {
        const value = change();
        return () => resolve(value);
      };
      if (this.#waiting.push({ run, fail: reject }) === 1) setImmediate(() => this.#commit());
    });
  }

  #commit(): void {
    const changes = this.#waiting;
    this.#waiting = [];
    if (changes.length === 0) return;
    try {
      this.#db.exec("BEGIN IMMEDIATE");
      const tell = changes.map((change) => change.run());
      this.#db.exec("COMMIT");
      for (const one of tell) one();
    } catch (error) {
      for (const change of changes) change.fail(error);
      if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec("ROLLBACK");
    }
  }
}

type Statements = ReturnType<typeof statements>;

function statements(db: DatabaseSync) {
  const prepare = (sql: string): StatementSync => db.prepare(sql);
  return {
    mailbox: prepare(
      "SELECT read_hash, write_hash, last_seq, messages, bytes, used_ms FROM mailboxes WHERE id = ?",
    ),
    addMailbox: prepare(
      "INSERT INTO mailboxes (id, read_hash, write_hash, last_seq, used_ms) VALUES (?, ?, ?, ?, ?)",
    ),
    touch: prepare("UPDATE mailboxes SET used_ms = ? WHERE id = ?"),
    removeMailbox: prepare("DELETE FROM mailboxes WHERE id = ?"),
    removeIdle: prepare(
      "DELETE FROM mailboxes WHERE id IN (SELECT id FROM mailboxes WHERE used_ms < ? LIMIT ?)",
    ),
    addMessage: prepare("INSERT INTO messages VALUES (?, ?, ?, ?, ?)"),
    page: prepare(
      "SELECT seq, posted_ms, data FROM messages WHERE mailbox = ? AND seq > ? AND expires_ms > ? ORDER BY seq LIMIT ?",
    ),
    ack: prepare("DELETE FROM messages WHERE mailbox = ? AND seq <= ?"),
    expire: prepare(
      "DELETE FROM messages WHERE rowid IN (SELECT rowid FROM messages WHERE expires_ms <= ? LIMIT ?)",
    ),
    expireOf: prepare("DELETE FROM messages WHERE mailbox = ? AND expires_ms <= ?"),
    putPush: prepare("UPDATE mailboxes SET push = ? WHERE id = ?"),
    removePush: prepare("UPDATE mailboxes SET push = NULL WHERE id = ? AND push = ?"),
    push: prepare("SELECT push FROM mailboxes WHERE id = ?"),
    totals: prepare("SELECT mailboxes, bytes FROM totals"),
  };
}
