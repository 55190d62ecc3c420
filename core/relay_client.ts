/**
 * The client side of a relay, for the daemon and the phone alike. It does no I/O of its own: `fetch` is handed in, because
 * the daemon goes through a unix socket or its own connection settings and the phone through the browser.
 *
 * A relay is not trusted (B134): replies are bounded and decoded strictly, redirects are not followed, and what happened
 * is told by the `kind` of an outcome, never by a text. Every call ends by itself within its time (B141).
 */

import { type Bytes, concat, fromBase64url, fromUtf8 } from "./bytes.ts";
import { CustosError } from "./errors.ts";
import {
  decodeCount,
  decodePage,
  decodePosted,
  decodeRelayError,
  INVITE_HEADER,
  isMailboxId,
  isToken,
  isTokenHash,
  mailboxPath,
  MESSAGE_BYTES_MAX,
  MESSAGE_TYPE,
  messagesPath,
  pushPath,
  type PushSubscription,
  type RelayErrorKind,
  REPLY_BYTES_MAX,
  REPLY_MS_MAX,
  TTL_MS_MAX,
  WAIT_MS_MAX,
  type WirePosted,
} from "./relay_wire.ts";

export { Backoff } from "./backoff.ts";

/** The part of `fetch` that the client uses. */
export type RelayFetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * What came of a call.
 *
 * - `gone`: the relay does not know this mailbox. Make it again with the same hashes and post again (B152).
 * - `unauthorized`: the token is wrong. Trying again cannot help (B171).
 * - `too_many`: wait at least `retry_after_ms`.
 * - `full`: the mailbox or the relay holds as much as it may.
 * - `refused`: any other refusal of the relay, by its kind.
 * - `unreachable`: no answer in time, or a server error. A post may or may not be stored: post it again. Also the outcome
 *   of a call that the caller's own signal ended, and of a wait that was ended early with nothing.
 * - `bad_reply`: something answered that does not speak this protocol.
 */
export type RelayOutcome<T> =
  | { kind: "ok"; value: T }
  | { kind: "gone" }
  | { kind: "unauthorized" }
  | { kind: "too_many"; retry_after_ms: number }
  | { kind: "full" }
  | { kind: "refused"; error: RelayErrorKind }
  | { kind: "unreachable"; retry_after_ms: number }
  | { kind: "bad_reply" };

/** A message that was read. `seq` is the relay's and only good for `after` and `through`; it authenticates nothing. */
export interface RelayMessage {
  seq: number;
  posted_ms: number;
  data: Bytes;
}

/** How to reach a relay. `url` is its base, without path, query or final slash. */
export interface RelayClientOptions {
  url: string;
  fetch: RelayFetch;
  /** For a relay that lets only invited people make mailboxes. */
  invite?: string;
}

const JSON_TYPE = "application/json";

interface Call {
  method: "GET" | "PUT" | "POST" | "DELETE";
  path: (id: string) => string;
  query?: string;
  token?: string;
  invite?: string | undefined;
  type?: string;
  body?: BodyInit;
  limit_ms?: number;
  signal?: AbortSignal | undefined;
}

/**
 * One relay. All methods return outcomes; they reject with `bad_request` only for arguments that no relay could accept (a
 * malformed id, token or hash, a message that is too large), which are faults of the caller.
 */
export class RelayClient {
  readonly #base: string;
  readonly #fetch: RelayFetch;
  readonly #invite: string | undefined;

  constructor(options: RelayClientOptions) {
    const url = URL.parse(options.url);
    insist(url !== null && /^https?:$/.test(url.protocol) && url.origin === options.url, "address");
    this.#base = options.url;
    this.#fetch = options.fetch;
    this.#invite = options.invite;
  }

  /** Makes a mailbox, or finds it as it should be. `refused: mailbox_conflict` where it exists with other hashes. */
  async createMailbox(id: string, readHash: string, writeHash: string): Promise<RelayOutcome<void>> {
    insist(isTokenHash(readHash) && isTokenHash(writeHash), "hash");
    const body = JSON.stringify({ read_hash: readHash, write_hash: writeHash });
    const call: Call = { method: "PUT", path: mailboxPath, invite: this.#invite, type: JSON_TYPE, body };
    return nothing(await this.#call(id, call));
  }

  /** Leaves a message, kept for `ttl_ms` (default: a day) or until it is acknowledged. */
  async post(
    id: string,
    token: string,
    body: Bytes,
    options: { ttl_ms?: number; signal?: AbortSignal } = {},
  ): Promise<RelayOutcome<WirePosted>> {
    const { ttl_ms = TTL_MS_MAX, signal } = options;
    insist(body.length > 0 && body.length <= MESSAGE_BYTES_MAX, "message size");
    insist(Number.isInteger(ttl_ms) && ttl_ms > 0 && ttl_ms <= TTL_MS_MAX, "time to live");
    const query = `?ttl_ms=${ttl_ms}`;
    const call: Call = { method: "POST", path: messagesPath, query, token, type: MESSAGE_TYPE, body, signal };
    return decoded(await this.#call(id, call), decodePosted);
  }

  /**
   * Reads what is above `after` (0 for all), lowest first, waiting up to `wait_ms` (at most 25,000; default 0) for the
   * first message. Messages stay until acknowledged and may come again: delivery is at least once. A mailbox that was
   * made anew may give numbers at or below `after`; go on from the last `seq` of the page.
   */
  async read(
    id: string,
    token: string,
    after: number,
    options: { wait_ms?: number; signal?: AbortSignal } = {},
  ): Promise<RelayOutcome<RelayMessage[]>> {
    const { wait_ms = 0, signal } = options;
    insist(Number.isSafeInteger(after) && after >= 0, "position");
    insist(Number.isInteger(wait_ms) && wait_ms >= 0 && wait_ms <= WAIT_MS_MAX, "wait");
    const query = `?after=${after}&wait_ms=${wait_ms}`;
    const limit_ms = wait_ms + REPLY_MS_MAX;
    const started = performance.now();
    const reply = await this.#call(id, { method: "GET", path: messagesPath, query, token, limit_ms, signal });
    const page = decoded(reply, decodePage);
    if (page.kind !== "ok") return page;
    // a relay that ends every wait at once would make a caller spin, so that counts as a failure (B171)
    const early = page.value.messages.length === 0 && performance.now() - started < wait_ms / 2;
    if (early) return { kind: "unreachable", retry_after_ms: 0 };
    return { kind: "ok", value: page.value.messages.map((m) => ({ ...m, data: fromBase64url(m.data)! })) };
  }

  /** Tells the relay to forget the messages up to and including `through`. */
  async ack(id: string, token: string, through: number): Promise<RelayOutcome<void>> {
    insist(Number.isSafeInteger(through) && through >= 0, "position");
    const query = `?through=${through}`;
    return nothing(await this.#call(id, { method: "DELETE", path: messagesPath, query, token }));
  }

  /** Removes the mailbox with all it holds. The right to read is the right to remove. */
  async remove(id: string, token: string): Promise<RelayOutcome<void>> {
    return nothing(await this.#call(id, { method: "DELETE", path: mailboxPath, token }));
  }

  /** Stores where the reader wants to be woken. The push itself carries no content. */
  async putPush(id: string, token: string, subscription: PushSubscription): Promise<RelayOutcome<void>> {
    const { endpoint, keys: { p256dh, auth } } = subscription;
    const body = JSON.stringify({ endpoint, keys: { p256dh, auth } });
    return nothing(await this.#call(id, { method: "PUT", path: pushPath, token, type: JSON_TYPE, body }));
  }

  async #call(id: string, call: Call): Promise<RelayOutcome<unknown>> {
    insist(isMailboxId(id), "mailbox id");
    insist(call.token === undefined || isToken(call.token), "token");
    const headers: Record<string, string> = { accept: JSON_TYPE };
    if (call.token !== undefined) headers["authorization"] = `Bearer ${call.token}`;
    if (call.type !== undefined) headers["content-type"] = call.type;
    if (call.invite !== undefined) headers[INVITE_HEADER] = call.invite;
    const ended = new AbortController();
    const end = () => ended.abort();
    const timer = setTimeout(end, call.limit_ms ?? REPLY_MS_MAX); // `AbortSignal.timeout` would outlive the call
    call.signal?.addEventListener("abort", end);
    try {
      call.signal?.throwIfAborted();
      const response = await this.#fetch(this.#base + call.path(id) + (call.query ?? ""), {
        method: call.method,
        headers,
        signal: ended.signal,
        ...(call.body === undefined ? {} : { body: call.body }),
        redirect: "manual", // a redirect would carry the token to an address that nobody chose
        credentials: "omit",
        cache: "no-store",
        referrerPolicy: "no-referrer",
      });
      return outcomeOf(response, await boundedJson(response));
    } catch {
      return { kind: "unreachable", retry_after_ms: 0 }; // fetch's errors have no codes, and may quote a header
    } finally {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", end);
    }
  }
}

function outcomeOf(response: Response, body: unknown): RelayOutcome<unknown> {
  const { status } = response;
  if (status === 200 || status === 201) {
    return body === null ? { kind: "bad_reply" } : { kind: "ok", value: body };
  }
  const retry_after_ms = (decodeCount(response.headers.get("retry-after") ?? "", 24 * 60 * 60) ?? 0) * 1000;
  if (status === 401) return { kind: "unauthorized" };
  if (status === 429) return { kind: "too_many", retry_after_ms };
  const error = decodeRelayError(body)?.kind;
  if (error === "full") return { kind: "full" };
  if (status >= 500 || error === "too_slow") return { kind: "unreachable", retry_after_ms };
  if (error === undefined) return { kind: "bad_reply" }; // a proxy's own 404 must not look like a lost mailbox
  return error === "unknown_mailbox" ? { kind: "gone" } : { kind: "refused", error };
}

/** The JSON of a reply, or `null`: not JSON, or longer than any reply can be. */
async function boundedJson(response: Response): Promise<unknown> {
  const reader = response.body?.getReader(); // not `for await`, which not every phone's browser has for streams
  if (reader === undefined) return null;
  const parts: Bytes[] = [];
  let length = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    length += read.value.length;
    if (length > REPLY_BYTES_MAX) {
      await reader.cancel();
      return null;
    }
    parts.push(read.value);
  }
  try {
    return JSON.parse(fromUtf8(concat(...parts)));
  } catch {
    return null;
  }
}

function decoded<T>(outcome: RelayOutcome<unknown>, decode: (value: unknown) => T | null): RelayOutcome<T> {
  if (outcome.kind !== "ok") return outcome;
  const value = decode(outcome.value);
  return value === null ? { kind: "bad_reply" } : { kind: "ok", value };
}

function nothing(outcome: RelayOutcome<unknown>): RelayOutcome<void> {
  return outcome.kind === "ok" ? { kind: "ok", value: undefined } : outcome;
}

function insist(condition: boolean, what: string): asserts condition {
  if (!condition) throw new CustosError("bad_request", `This ${what} is not one that a relay accepts.`);
}
