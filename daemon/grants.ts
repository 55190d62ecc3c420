/**
 * Live grants. They carry the file key, and are in memory only: with the daemon gone, or the grant ended, nobody on this
 * machine can open the secret (DESIGN §1, §6.3). What the database keeps of a grant is its text and its end.
 */

import type { Bytes } from "@custos/core/bytes";
import { covers, type Grant, type Use } from "@custos/core/grant";
import type { GrantView } from "@custos/rpc/inventory_schemas";
import type { Database, Row } from "./database.ts";

/** Why a grant ended. */
export type GrantEnd =
  | "spent"
  | "expired"
  | "revoked"
  | "locked"
  | "denied_later"
  | "policy_changed"
  | "daemon_stopped"
  | "daemon_restarted";

/** A grant that can be used now. */
export interface LiveGrant {
  readonly grant: Grant;
  readonly request_id: string;
  readonly fingerprint: string;
  readonly name: string;
  readonly file_key: Bytes;
  uses_left: number;
  readonly wall_deadline_ms: number;
  readonly monotonic_deadline_ms: number;
}

/** Called after a grant has ended, with the reason; the keys are wiped by then. */
export type OnGrantEnd = (live: LiveGrant, why: GrantEnd) => void;

/** All live grants of this run. */
export class Grants {
  readonly #db: Database;
  readonly #live = new Map<string, LiveGrant>();
  readonly #onEnd: OnGrantEnd[] = [];
  readonly #takenBack = new WeakSet<LiveGrant>();

  constructor(db: Database) {
    this.#db = db;
    // A grant does not outlive the daemon that held its key.
    db.run("UPDATE grants SET ended = 'daemon_restarted' WHERE ended IS NULL");
  }

  /** Adds a listener for ends. */
  onEnd(listener: OnGrantEnd): void {
    this.#onEnd.push(listener);
  }

  /** Writes a grant's text, in the caller's transaction. {@link add} follows once it is through. */
  record(live: LiveGrant): void {
    this.#db.run(
      "INSERT INTO grants (grant_id, request_id, grant_doc, name, expires_ms, uses_left) VALUES (?, ?, ?, ?, ?, ?)",
      live.grant.grant_id,
      live.request_id,
      JSON.stringify(live.grant),
      live.name,
      live.wall_deadline_ms,
      live.uses_left,
    );
  }

  /** Makes a recorded grant usable. */
  add(live: LiveGrant): void {
    this.#live.set(live.grant.grant_id, live);
  }

  /** The grant that covers a use, the narrowest first, or `undefined`. Ends those whose time is over. */
  find(secretId: string, use: Use): LiveGrant | undefined {
    this.sweep();
    return [...this.#live.values()]
      .filter((live) => live.grant.secret_id === secretId && live.uses_left > 0 && covers(live.grant, use))
      .sort((a, b) =>
        Number(b.grant.scope.content_sha256 !== undefined) -
        Number(a.grant.scope.content_sha256 !== undefined)
      )
      .at(0);
  }

  /** Whether a grant can still be used: the earlier of two clocks ends it (B165). */
  isLive(live: LiveGrant): boolean {
    return this.#live.get(live.grant.grant_id) === live && live.uses_left > 0 && !isOver(live);
  }

  /** Takes one use, in the caller's transaction. `false` if there is none left. */
  consume(live: LiveGrant): boolean {
    if (!this.isLive(live)) return false;
    live.uses_left--;
    this.#db.run("UPDATE grants SET uses_left = ? WHERE grant_id = ?", live.uses_left, live.grant.grant_id);
    return true;
  }

  /** Whether a grant was taken back: not used up and not run out, which let what is under way finish. */
  wasTakenBack(live: LiveGrant): boolean {
    return this.#takenBack.has(live);
  }

  /** Whether a live grant of this secret is for one exact content, so that the content's hash has to be known. */
  hasExact(secretId: string): boolean {
    for (const { grant } of this.#live.values()) {
      if (grant.secret_id === secretId && grant.scope.content_sha256 !== undefined) return true;
    }
    return false;
  }

  /** Gives a use back after a transaction that failed. */
  restore(live: LiveGrant): void {
    live.uses_left++;
  }

  /** Ends the grants that `which` selects. Returns how many. */
  end(which: (live: LiveGrant) => boolean, why: GrantEnd): number {
    const ending = [...this.#live.values()].filter(which);
    for (const live of ending) {
      this.#live.delete(live.grant.grant_id);
      live.file_key.fill(0);
      if (why !== "spent" && why !== "expired") this.#takenBack.add(live);
      this.#db.run("UPDATE grants SET ended = ? WHERE grant_id = ?", why, live.grant.grant_id);
      for (const listener of this.#onEnd) listener(live, why);
    }
    return ending.length;
  }

  /** Ends every grant whose time is over, or that has no uses left. */
  sweep(): void {
    this.end(isOver, "expired");
    this.end((live) => live.uses_left === 0, "spent");
  }

  /** All live grants. */
  all(): LiveGrant[] {
    this.sweep();
    return [...this.#live.values()];
  }

  /** Whether a secret has a live grant. */
  hasLive(secretId: string): boolean {
    return [...this.#live.values()].some((live) => live.grant.secret_id === secretId);
  }

  /** The grant that a request led to, live or ended, or `undefined`. */
  viewOfRequest(requestId: string): GrantView | undefined {
    this.sweep();
    const row = this.#db.get(
      "SELECT * FROM grants WHERE request_id = ? ORDER BY rowid DESC LIMIT 1",
      requestId,
    );
    return row === undefined ? undefined : viewOf(row);
  }

  /** Views of all live grants. */
  views(): GrantView[] {
    return this.all().map((live) => {
      const row = this.#db.get("SELECT * FROM grants WHERE grant_id = ?", live.grant.grant_id)!;
      return viewOf(row);
    });
  }
}

/** The deadlines of a grant accepted now. */
export function deadlines(seconds: number): { wall_deadline_ms: number; monotonic_deadline_ms: number } {
  return {
    wall_deadline_ms: Date.now() + seconds * 1000,
    monotonic_deadline_ms: performance.now() + seconds * 1000,
  };
}

function isOver(live: LiveGrant): boolean {
  return Date.now() >= live.wall_deadline_ms || performance.now() >= live.monotonic_deadline_ms;
}

function viewOf(row: Row): GrantView {
  const grant = JSON.parse(String(row["grant_doc"])) as Grant;
  const { origins, methods, path, path_prefix } = grant.scope;
  return {
    grant_id: grant.grant_id,
    handle: `custos:${row["name"]}`,
    origins,
    methods,
    ...(path === undefined ? {} : { path }),
    ...(path_prefix === undefined ? {} : { path_prefix }),
    uses_left: Number(row["uses_left"]),
    max_uses: grant.max_uses,
    expires_ms: Number(row["expires_ms"]),
    ended: row["ended"] !== null,
  };
}
