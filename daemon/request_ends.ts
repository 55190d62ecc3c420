/** Ends that nobody decided: time, withdrawal, a restart. Each is recorded with its end, then told to all who wait. */

import type { RequestStatus } from "@custos/core/messages";
import type { AuditLog } from "./audit_log.ts";
import { describe } from "./asks.ts";
import type { Database } from "./database.ts";
import type { ReplyKeys } from "./reply_keys.ts";
import type { RequestStore, StoredRequest } from "./request_store.ts";

/** Ends requests. */
export class RequestEnds {
  readonly #db: Database;
  readonly #requests: RequestStore;
  readonly #audit: AuditLog;
  readonly #replyKeys: ReplyKeys;

  constructor(db: Database, requests: RequestStore, audit: AuditLog, replyKeys: ReplyKeys) {
    this.#db = db;
    this.#requests = requests;
    this.#audit = audit;
    this.#replyKeys = replyKeys;
  }

  /** Ends what is overdue by this machine's clock. */
  expireOverdue(): void {
    for (const request of this.#requests.overdue(Date.now())) this.end(request, "expired", null);
  }

  /** Ends all pending requests, when their answers could no longer be used. Returns how many. */
  withdrawAll(reason: string): number {
    const pending = this.#requests.list("pending");
    for (const request of pending) this.end(request, "withdrawn", reason);
    return pending.length;
  }

  /** Ends one request if it is still pending. `false` if it had ended before. */
  end(
    request: StoredRequest,
    status: RequestStatus & ("expired" | "withdrawn"),
    reason: string | null,
  ): boolean {
    const ended = this.#db.transaction(() => {
      if (!this.#requests.end(request.id, status, reason, null)) return false;
      const why = reason === null ? {} : { why: reason };
      this.#audit.write({ event: status, ...describe(request.doc, request.fingerprint), ...why });
      return true;
    });
    if (!ended) return false;
    this.#replyKeys.forget(request.id);
    this.#requests.announce(request.id);
    return true;
  }
}
