/**
 * The one gate. Every use of a secret goes through {@link Gate.send}: authorise, record, then act. What cannot be recorded
 * is not sent, and what was recorded as started is never sent a second time (DESIGN §6.5, §9).
 */

import { asCustosError, CustosError } from "@custos/core/errors";
import { isOnce, type Use } from "@custos/core/grant";
import type { Target } from "@custos/core/target";
import type { AuditLog, AuditNote } from "./audit_log.ts";
import type { Cells, Lease } from "./cells.ts";
import type { Database } from "./database.ts";
import type { CellResponse } from "./egress/pending_answer.ts";
import type { FixedBody } from "./fixed_body.ts";
import type { Grants, LiveGrant } from "./grants.ts";
import type { StoredSecret } from "./policy_store.ts";

/** A checked request that waits for a grant: exactly what would be sent, less the secret. */
export interface Outgoing {
  secret: StoredSecret;
  target: Target;
  headers: [string, string][];
  body: FixedBody;
  use: Omit<Use, "content_sha256">;
  /** The hash of exactly this content; only needed where a live grant is for one exact content. */
  contentSha256: () => Promise<string>;
}

/** How the answer is wanted. */
export interface SendOptions {
  signal: AbortSignal;
  /** Bytes of the scrubbed body to pass on. */
  max_bytes: number;
}

/** An answer on its way. `request_id` and `fingerprint` are of the request whose grant allowed it. */
export interface Sent {
  request_id: string;
  fingerprint: string;
  response: CellResponse;
}

/** The gate of one daemon. */
export class Gate {
  readonly #db: Database;
  readonly #audit: AuditLog;
  readonly #grants: Grants;
  readonly #cells: Cells;

  constructor(db: Database, audit: AuditLog, grants: Grants, cells: Cells) {
    this.#db = db;
    this.#audit = audit;
    this.#grants = grants;
    this.#cells = cells;
  }

  /** The live grant that allows this request, or `undefined`. */
  async grantFor(outgoing: Outgoing): Promise<LiveGrant | undefined> {
    const { secret, use } = outgoing;
    const content_sha256 = this.#grants.hasExact(secret.secret_id) ? await outgoing.contentSha256() : "";
    const live = this.#grants.find(secret.secret_id, { ...use, content_sha256 });
    // A grant was signed for one version of the policy; another version needs another approval (B143).
    return live?.grant.policy_hash === secret.policy_hash ? live : undefined;
  }

  /**
   * Sends a request under a grant. Throws `needs_approval` about the grant's request if the grant can no longer be used,
   * `storage` if the intent cannot be recorded (nothing was sent then), or what the cell throws, each about that request.
   */
  async send(outgoing: Outgoing, live: LiveGrant, options: SendOptions): Promise<Sent> {
    const about = { id: live.request_id, fingerprint: live.fingerprint };
    const note = noteOf(outgoing, live);
    const fileKey = live.file_key.slice();
    const timed = !isOnce(live.grant);
    let send: number | null = null;
    let lease: Lease | null = null;
    try {
      await outgoing.body.check(); // before the grant is used: a body that was changed is never sent (B143)
      send = await this.#recordIntent(live, note);
      // Between the commit and here somebody may have taken the grant back, and the key was copied before.
      if (this.#grants.wasTakenBack(live)) throw usedUp(live);
      lease = await this.#cells.acquire(outgoing.secret, fileKey);
      const { target, headers, body } = outgoing;
      const request = {
        method: target.method,
        url: target.url,
        headers,
        body: body.content(),
        body_bytes: body.size,
      };
      // Only reads under a timed grant may share a connection: the runtime may repeat what it sent on one (DESIGN §9).
      const keep_alive = timed && (target.method === "GET" || target.method === "HEAD");
      const response = await lease.cell.request(request, {
        signal: options.signal,
        max_bytes: options.max_bytes,
        keep_alive,
      });
      this.#whenFinished(send, note, response, lease);
      return { request_id: about.id, fingerprint: about.fingerprint, response };
    } catch (error) {
      lease?.release();
      const known = asCustosError(error);
      const unknown = known.kind === "outcome_unknown";
      if (send !== null) {
        const event = unknown ? "outcome_unknown" : "send_failed";
        this.#recordEnd(send, unknown ? "unknown" : "failed", { ...note, event, why: known.kind });
      }
      throw known.withRequest(about.id, about.fingerprint);
    } finally {
      fileKey.fill(0);
      this.#grants.sweep();
      this.#cells.settle(outgoing.secret.secret_id);
    }
  }

  /**
   * One use of the grant and the intent, in one transaction. Resolves when they are on disk; until then nothing else
   * happens, and where they cannot be written the use is given back.
   */
  #recordIntent(live: LiveGrant, note: AuditNote): Promise<number> {
    let consumed = false;
    const undo = () => {
      if (consumed) this.#grants.restore(live);
      consumed = false;
    };
    return this.#db.group.add(() => {
      consumed = this.#grants.consume(live);
      if (!consumed) throw usedUp(live);
      const row = this.#db.get(
        "INSERT INTO sends (request_id, grant_id, state, started_ms) VALUES (?, ?, 'started', ?) RETURNING id",
        live.request_id,
        live.grant.grant_id,
        Date.now(),
      )!;
      this.#audit.write({ ...note, event: "send_started" });
      return Number(row["id"]);
    }, undo);
  }

  #whenFinished(send: number, note: AuditNote, response: CellResponse, lease: Lease): void {
    response.finished.then((end) => {
      this.#recordEnd(send, "finished", {
        ...note,
        event: "send_finished",
        status: response.status,
        response_sha256: end.sha256,
        bytes: end.received_bytes,
        redactions: end.redactions,
      });
    }, () => {
      this.#recordEnd(send, "unknown", {
        ...note,
        event: "outcome_unknown",
        status: response.status,
        why: "cut",
      });
    }).finally(() => lease.release());
  }

  /** The end of a send. The request was sent, so a full disk here cannot undo it: the row stays `started`, which says so. */
  #recordEnd(send: number, state: "finished" | "failed" | "unknown", note: AuditNote): void {
    this.#db.group.addLater(() => {
      this.#db.run("UPDATE sends SET state = ? WHERE id = ?", state, send);
      this.#audit.write(note);
      if ((note.redactions ?? 0) > 0) this.#audit.write({ ...note, event: "scrubbed" });
    }).catch(() => {}); // see above
  }

  /** At start: what was `started` when the last run died may have been sent; nobody knows (DESIGN §9). */
  recover(): number {
    return this.#db.transaction(() => {
      const rows = this.#db.all("SELECT id, request_id, grant_id FROM sends WHERE state = 'started'");
      for (const row of rows) {
        this.#db.run("UPDATE sends SET state = 'unknown' WHERE id = ?", row["id"] as number);
        this.#audit.write({
          event: "outcome_unknown",
          request_id: String(row["request_id"]),
          grant_id: String(row["grant_id"]),
          why: "daemon_died",
        });
      }
      return rows.length;
    });
  }

  /** Whether a request was, or may have been, sent and its end is not known. */
  outcomeUnknown(requestId: string): boolean {
    this.#db.group.flush();
    return this.#db.get("SELECT 1 FROM sends WHERE request_id = ? AND state = 'unknown'", requestId) !==
      undefined;
  }
}

function usedUp(live: LiveGrant): CustosError {
  return new CustosError("needs_approval", "The grant for this was used up or has ended. Ask again.")
    .withRequest(live.request_id, live.fingerprint);
}

function noteOf(outgoing: Outgoing, live: LiveGrant): Omit<AuditNote, "event"> & { event: "send_started" } {
  return {
    event: "send_started",
    request_id: live.request_id,
    fingerprint: live.fingerprint,
    handle: `custos:${live.name}`,
    agent: outgoing.use.agent,
    method: outgoing.target.method,
    origin: outgoing.target.origin,
    path: outgoing.target.path,
    grant_id: live.grant.grant_id,
  };
}
