/** Requests as they are stored, and their states: pending, then exactly one end (DESIGN §5.2). */

import { fromUtf8 } from "@custos/core/bytes";
import { canonicalBytes } from "@custos/core/canonical";
import type { RequestStatus } from "@custos/core/messages";
import type { RequestDoc, RequestType } from "@custos/core/request";
import type { Database, Row } from "./database.ts";

/** A request with everything that is known of it. */
export interface StoredRequest {
  id: string;
  hash: string;
  type: RequestType;
  doc: RequestDoc;
  fingerprint: string;
  agent: string | null;
  cool_key: string;
  status: RequestStatus;
  created_ms: number;
  expires_ms: number;
  /** Why it ended, as a code; `null` while pending or where the status says it all. */
  reason: string | null;
  /** Name of the device that answered. */
  decided_by: string | null;
  card_sent: boolean;
  /** Whether its first word was typed into the terminal; only asked of changes that allow more. */
  confirmed: boolean;
}

/** What a new request brings beside its document. */
export interface NewRequest {
  doc: RequestDoc;
  hash: string;
  fingerprint: string;
  coalesce_key: string;
  cool_key: string;
}

/** Called after a request's state changed, outside of any transaction. */
export type OnChange = (request: StoredRequest) => void;

/** The store. */
export class RequestStore {
  readonly #db: Database;
  readonly #listeners = new Set<OnChange>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Adds a pending request, in the caller's transaction. */
  insert({ doc, hash, fingerprint, coalesce_key, cool_key }: NewRequest): void {
    this.#db.run(
      "INSERT INTO requests (id, hash, type, doc, fingerprint, agent, coalesce_key, cool_key, status, created_ms, " +
        "expires_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)",
      doc.id,
      hash,
      doc.type,
      fromUtf8(canonicalBytes(doc)),
      fingerprint,
      doc.agent.name,
      coalesce_key,
      cool_key,
      doc.created_ms,
      doc.expires_ms,
    );
  }

  /** The request with this id, or `undefined`. */
  byId(id: string): StoredRequest | undefined {
    return read(this.#db.get("SELECT * FROM requests WHERE id = ?", id));
  }

  /** The request with this hash, or `undefined`. */
  byHash(hash: string): StoredRequest | undefined {
    return read(this.#db.get("SELECT * FROM requests WHERE hash = ?", hash));
  }

  /** The pending request that an identical one joins, or `undefined`. Never one that was answered. */
  pendingLike(coalesceKey: string): StoredRequest | undefined {
    return read(
      this.#db.get("SELECT * FROM requests WHERE status = 'pending' AND coalesce_key = ?", coalesceKey),
    );
  }

  /** Requests of a status, oldest first; of all statuses the newest 500. */
  list(status: RequestStatus | null): StoredRequest[] {
    const rows = status === null
      ? this.#db.all("SELECT * FROM requests ORDER BY created_ms DESC LIMIT 500")
      : this.#db.all("SELECT * FROM requests WHERE status = ? ORDER BY created_ms LIMIT 500", status);
    return rows.map((row) => read(row)!);
  }

  /** Pending requests whose time is over. */
  overdue(now: number): StoredRequest[] {
    return this.#db.all("SELECT * FROM requests WHERE status = 'pending' AND expires_ms <= ?", now).map((
      row,
    ) => read(row)!);
  }

  /** The words of every request that is pending, or of the last 24 hours: a new one must not be near any of them. */
  recentWords(now: number): string[] {
    const rows = this.#db.all(
      "SELECT fingerprint FROM requests WHERE created_ms > ? OR status = 'pending'",
      now - 86_400_000,
    );
    return rows.map((row) => String(row["fingerprint"]));
  }

  /** The newest granted http request of the same secret, method and path, for the card's diff; or `undefined`. */
  previousLike(coolKey: string): StoredRequest | undefined {
    return read(this.#db.get(
      "SELECT * FROM requests WHERE status = 'granted' AND cool_key = ? ORDER BY created_ms DESC LIMIT 1",
      coolKey,
    ));
  }

  /** Requests that ended since a time, newest first, of those whose card went out. */
  endedSince(sinceMs: number, limit: number): StoredRequest[] {
    const sql =
      "SELECT * FROM requests WHERE decided_ms > ? AND card_sent = 1 ORDER BY decided_ms DESC LIMIT ?";
    return this.#db.all(sql, sinceMs, limit).map((row) => read(row)!);
  }

  /**
   * Ends a pending request; in the caller's transaction if there is one. `false` if it was no longer pending, and then
   * nothing changed: of two decisions exactly one counts.
   */
  end(id: string, status: RequestStatus, reason: string | null, by: string | null): boolean {
    const changed = this.#db.run(
      "UPDATE requests SET status = ?, reason = ?, decided_by = ?, decided_ms = ? WHERE id = ? AND status = 'pending'",
      status,
      reason,
      by,
      Date.now(),
      id,
    );
    return changed === 1;
  }

  /** Notes that the relay has taken the card. */
  markSent(id: string): void {
    this.#db.run("UPDATE requests SET card_sent = 1 WHERE id = ?", id);
  }

  /** Notes that the first word was typed into the terminal. */
  confirm(id: string): void {
    this.#db.run("UPDATE requests SET confirmed = 1 WHERE id = ?", id);
  }

  /** Calls `listener` after each {@link announce}; returns how to stop. */
  onChange(listener: OnChange): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells everybody who waits that a request has ended. */
  announce(id: string): void {
    const request = this.byId(id);
    if (request === undefined) return;
    for (const listener of [...this.#listeners]) listener(request);
  }
}

function read(row: Row | undefined): StoredRequest | undefined {
  if (row === undefined) return undefined;
  const text = (key: string) => row[key] === null ? null : String(row[key]);
  return {
    id: String(row["id"]),
    hash: String(row["hash"]),
    type: row["type"] as RequestType,
    doc: JSON.parse(String(row["doc"])) as RequestDoc,
    fingerprint: String(row["fingerprint"]),
    agent: text("agent"),
    cool_key: String(row["cool_key"]),
    status: row["status"] as RequestStatus,
    created_ms: Number(row["created_ms"]),
    expires_ms: Number(row["expires_ms"]),
    reason: text("reason"),
    decided_by: text("decided_by"),
    card_sent: row["card_sent"] === 1,
    confirmed: row["confirmed"] === 1,
  };
}
