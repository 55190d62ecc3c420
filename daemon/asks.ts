/**
 * How a request comes to be: join an identical pending one, or make a document, draw its nonce and words, record it, and
 * send its card (DESIGN §5.2).
 */

import { generateHybridIdentity, identityToRecipient } from "age-encryption";
import { randomBytes, toBase64url } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import { coolDownKey } from "@custos/core/fatigue";
import { fingerprintOf, isNear } from "@custos/core/fingerprint";
import { newId } from "@custos/core/ids";
import {
  type Agent,
  coalesceKey,
  handleOf,
  readRequest,
  REQUEST_LIFE_MS,
  type RequestBase,
  type RequestDoc,
  requestHash,
} from "@custos/core/request";
import type { AuditLog } from "./audit_log.ts";
import type { Database } from "./database.ts";
import type { FatigueStore } from "./fatigue_store.ts";
import type { Identity } from "./identity.ts";
import type { PolicyStore } from "./policy_store.ts";
import type { ReplyKeys } from "./reply_keys.ts";
import type { RequestStore, StoredRequest } from "./request_store.ts";

/** What a caller asks: a document without what the daemon adds. */
export type Draft = RequestDoc extends infer D
  ? D extends RequestDoc ? Omit<D, Exclude<keyof RequestBase, "agent" | "reason">> : never
  : never;

/** The request that was made or joined. */
export interface Asked {
  request: StoredRequest;
  joined: boolean;
}

/** What asking needs. */
export interface AskParts {
  db: Database;
  identity: Identity;
  audit: AuditLog;
  policies: PolicyStore;
  requests: RequestStore;
  fatigue: FatigueStore;
  replyKeys: ReplyKeys;
  /** Sends the card to every phone, and resolves when the relay has answered; must not reject. */
  sendCard: (request: StoredRequest) => Promise<unknown>;
}

/** Nonces drawn before giving up: with 64 recent requests, one draw is near another with a chance of about 3 in a million. */
const MAX_DRAWS = 64;

/** How long a caller waits for the relay to take the card before it is told that it has not. */
const CARD_PATIENCE_MS = 1_000;

/** Makes requests, one at a time: two identical ones at the same moment must not become two cards. */
export class Asks {
  readonly #parts: AskParts;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: AskParts) {
    this.#parts = parts;
  }

  /**
   * Asks the person. Throws `no_device`, `cooling_down`, `too_many_pending`, `bad_request` or `storage`; nobody was asked
   * then.
   */
  async ask(draft: Draft): Promise<Asked> {
    const run = this.#last.then(() => this.#ask(draft));
    this.#last = run.catch(() => {});
    const asked = await run;
    if (asked.joined) return asked;
    // The answer says whether the card is on its way, so the relay is given a moment to take it (B142).
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, CARD_PATIENCE_MS);
    await Promise.race([this.#parts.sendCard(asked.request), patience.promise]);
    clearTimeout(timer);
    return { request: this.#parts.requests.byId(asked.request.id)!, joined: false };
  }

  async #ask(draft: Draft): Promise<Asked> {
    const { policies, requests, audit, fatigue, db, replyKeys } = this.#parts;
    if (policies.state.devices.size === 0) {
      throw new CustosError(
        "no_device",
        "No phone is paired with this daemon, so nobody can say yes. Run: custos pair",
      );
    }
    const coalesce_key = await coalesceKey(draft as unknown as RequestDoc);
    const pending = requests.pendingLike(coalesce_key);
    if (pending !== undefined && pending.expires_ms > Date.now()) {
      audit.write({ event: "request_joined", request_id: pending.id, fingerprint: pending.fingerprint });
      return { request: pending, joined: true };
    }
    const identity = await generateHybridIdentity();
    const { doc, hash, fingerprint } = await this.#draw(draft, await identityToRecipient(identity));
    const cool_key = coolDownKey(doc);
    try {
      db.transaction(() => {
        fatigue.check(doc.agent.name, cool_key, Date.now());
        requests.insert({ doc, hash, fingerprint, coalesce_key, cool_key });
        audit.write({ event: "request_created", request_hash: hash, ...describe(doc, fingerprint) });
      });
    } catch (error) {
      if (error instanceof CustosError && error.kind !== "storage") refused(audit, doc, error.kind);
      throw error;
    }
    replyKeys.set(doc.id, identity);
    return { request: requests.byId(doc.id)!, joined: false };
  }

  /** The document with words that are not near those of any request that is pending or of the last 24 hours. */
  async #draw(
    draft: Draft,
    reply_to: string,
  ): Promise<{ doc: RequestDoc; hash: string; fingerprint: string }> {
    const { identity, requests } = this.#parts;
    const created_ms = Date.now();
    const recent = requests.recentWords(created_ms);
    for (let i = 0; i < MAX_DRAWS; i++) {
      const doc = readRequest({
        ...draft,
        v: 1,
        id: newId(),
        daemon: identity.daemon,
        daemon_name: identity.name,
        created_ms,
        expires_ms: created_ms + REQUEST_LIFE_MS[draft.type],
        reply_to,
        nonce: toBase64url(randomBytes(32)),
      });
      const hash = await requestHash(doc);
      const fingerprint = await fingerprintOf(identity.words_key, hash);
      if (!recent.some((words) => isNear(words, fingerprint))) {
        return { doc, hash: toBase64url(hash), fingerprint };
      }
    }
    throw new CustosError(
      "internal",
      "No words could be found for this request that are unlike all recent ones.",
    );
  }
}

/** The fields of a request that its audit entries carry. */
export function describe(doc: RequestDoc, fingerprint: string) {
  const target = doc.type === "http" ? new URL(doc.http.url) : null;
  return {
    request_id: doc.id,
    fingerprint,
    agent: doc.agent.name,
    ...("handle" in doc ? { handle: doc.handle } : "name" in doc ? { handle: handleOf(doc.name) } : {}),
    ...(doc.type === "http" && target !== null
      ? { method: doc.http.method, origin: target.origin, path: target.pathname.slice(0, 8_192) }
      : {}),
  };
}

function refused(audit: AuditLog, doc: RequestDoc, why: string): void {
  const { request_id: _id, fingerprint: _words, ...rest } = describe(doc, "");
  audit.write({ event: "request_refused", why, ...rest });
}

/** Who asks, from what the caller says of itself. */
export function agentOf(
  said: { name?: string | null; client?: { name: string; version: string } | null } | undefined,
): Agent {
  const name = said?.name ?? null;
  return { name: name === "" ? null : name, client: said?.client ?? null };
}
