/**
 * The relay's HTTP interface (DESIGN §8; `wire.md` says it in prose). One request passes, in this order: not stopping,
 * allowed origin, address within its rate, a token for the mailbox, and only then its body is read.
 */

import { type Context, Hono } from "@hono/hono";
import {
  decodeCount,
  decodeMailboxHashes,
  decodePushSubscription,
  INVITE_HEADER,
  MESSAGE_BYTES_MAX,
  MESSAGE_TYPE,
  PUSH_KEY_PATH,
  TTL_MS_MAX,
  WAIT_MS_MAX,
} from "@custos/core/relay_wire";
import { requireId, requireInvite, requireRight, type Right } from "./access.ts";
import { countedAddress } from "./address.ts";
import { readBody, readJson, requireType } from "./body.ts";
import { preflight, requireOrigin, setCommonHeaders } from "./cors.ts";
import { Delivery } from "./delivery.ts";
import { DEFAULT_LIMITS, type RelayLimits } from "./limits.ts";
import { type PushOptions, PushSender } from "./push_sender.ts";
import { Refusal, tooMany } from "./refusal.ts";
import type { Store } from "./store.ts";
import { TokenBuckets } from "./token_buckets.ts";
import { Waiters } from "./waiters.ts";

/** What a relay is made of. */
export interface RelayOptions {
  store: Store;
  limits?: Partial<RelayLimits>;
  /** Origins whose pages may use the relay; requests from other pages are refused. Exact, as browsers send them. */
  origins?: readonly string[];
  /** Asked for where a mailbox is made. Absent: everybody may. */
  invite?: string;
  /** How phones that do not read are called. Absent: they are not. */
  push?: PushOptions;
  /** Own proxies in front, whose `X-Forwarded-For` may be believed. Default 0: none. */
  proxy_hops?: number;
  /** Clock of the rate limits, in milliseconds. */
  now?: () => number;
  /** Told about failures of the relay itself, in one line without anything of the request. */
  report?: (line: string) => void;
}

/** The app and its end. */
export interface Relay {
  /** Handles one request. `info` is what `Deno.serve` gives; without it the request counts against nobody. */
  fetch(request: Request, info?: Deno.ServeHandlerInfo): Promise<Response>;
  /** Ends all waits and event streams, and refuses what still comes. */
  stop(): void;
}

type Env = { Bindings: { remoteAddr?: Deno.Addr } };

/** Makes a relay over a store. It holds no state that matters: only waiting readers and rate counts. */
export function createRelay(options: RelayOptions): Relay {
  const limits: RelayLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const { store, invite, origins = [], proxy_hops = 0, report = () => {} } = options;
  const now = options.now ?? (() => performance.now());
  const waiters = new Waiters(limits.mailbox_readers_max);
  const delivery = new Delivery(store, waiters);
  const pushes = options.push === undefined
    ? null
    : new PushSender(store, (id) => waiters.has(id), options.push, report);
  const requests = new TokenBuckets({
    capacity: limits.address_burst,
    per_second: limits.address_per_second,
    keys_max: limits.addresses_max,
    now,
  });
  const creations = new TokenBuckets({
    capacity: limits.address_mailboxes_per_hour,
    per_second: limits.address_mailboxes_per_hour / 3600,
    keys_max: limits.addresses_max,
    now,
  });
  let stopping = false;

  const app = new Hono<Env>();
  const addressOf = (c: Context<Env>) =>
    countedAddress(c.env.remoteAddr, c.req.header("x-forwarded-for"), proxy_hops);
  const authorised = async (c: Context<Env>, right: Right): Promise<string> => {
    const id = c.req.param("id") ?? "";
    await requireRight(store, id, right, c.req.header("authorization"));
    return id;
  };

  app.onError((error, c) => {
    if (error instanceof Refusal) return error.toResponse();
    report(`A ${c.req.method} failed: ${reasonOf(error)}`);
    return new Refusal("internal", "The relay failed. It has told its operator.").toResponse();
  });
  app.notFound(() => new Refusal("unknown_path", "This relay has nothing here.").toResponse());

  app.use(async (c, next) => {
    await next();
    setCommonHeaders(c.res.headers, c.req.header("origin"), origins);
  });
  app.use(async (c, next) => {
    if (stopping) {
      throw new Refusal("stopping", "The relay is stopping. Come again soon.", { "retry-after": "1" });
    }
    requireOrigin(c.req.header("origin"), origins);
    const address = addressOf(c);
    const pause = address === null ? 0 : requests.take(address);
    if (pause > 0) throw tooMany("Too many requests from this address.", pause);
    if (c.req.method === "OPTIONS") return preflight();
    await next();
  });

  app.get("/healthz", async (c) => {
    await store.ping();
    return c.json({ ok: true });
  });

  app.put("/v1/mailboxes/:id", async (c) => {
    const id = c.req.param("id");
    requireId(id);
    await requireInvite(invite, c.req.header(INVITE_HEADER));
    const hashes = await readJson(c.req.raw, limits.body_ms, decodeMailboxHashes);
    const address = addressOf(c);
    if (address !== null && await store.mailbox(id) === null) {
      const pause = creations.take(address);
      if (pause > 0) throw tooMany("Too many new mailboxes from this address.", pause);
    }
    switch (await store.putMailbox(id, hashes)) {
      case "created":
        return c.json({ created: true }, 201);
      case "same":
        return c.json({ created: false });
      case "conflict":
        throw new Refusal("mailbox_conflict", "This mailbox exists with other hashes.");
      case "full":
        throw new Refusal("full", "This relay has as many mailboxes as it may.");
    }
  });

  app.delete("/v1/mailboxes/:id", async (c) => {
    await store.remove(await authorised(c, "read"));
    return c.json({});
  });

  app.post("/v1/mailboxes/:id/messages", async (c) => {
    const id = await authorised(c, "write");
    const ttl_ms = countOf(c, "ttl_ms", TTL_MS_MAX, TTL_MS_MAX);
    if (ttl_ms === 0) throw new Refusal("bad_request", "ttl_ms must be at least 1.");
    requireType(c.req.raw, MESSAGE_TYPE);
    const data = await readBody(c.req.raw, MESSAGE_BYTES_MAX, limits.body_ms);
    const appended = await store.append(id, data, ttl_ms);
    switch (appended.kind) {
      case "stored":
        pushes?.posted(id);
        return c.json({ seq: appended.seq, expires_ms: appended.expires_ms }, 201);
      case "full":
        throw new Refusal(
          "full",
          "The mailbox or the relay is full. Messages must be read and acknowledged.",
        );
      case "gone":
        throw new Refusal("unknown_mailbox", "There is no such mailbox. Make it again.");
    }
  });

  app.get("/v1/mailboxes/:id/messages", async (c) => {
    const id = await authorised(c, "read");
    const reading = { id, after: countOf(c, "after", 0), left: c.req.raw.signal };
    if (/\btext\/event-stream\b/.test(c.req.header("accept") ?? "")) {
      const headers = { "content-type": "text/event-stream" };
      return new Response(delivery.events(reading, limits.heartbeat_ms), { headers });
    }
    return c.json({ messages: await delivery.page(reading, countOf(c, "wait_ms", 0, WAIT_MS_MAX)) });
  });

  app.delete("/v1/mailboxes/:id/messages", async (c) => {
    const id = await authorised(c, "read");
    if (c.req.query("through") === undefined) throw new Refusal("bad_request", "Say through which message.");
    await store.ack(id, countOf(c, "through", 0));
    return c.json({});
  });

  app.put("/v1/mailboxes/:id/push", async (c) => {
    const id = await authorised(c, "read");
    const subscription = await readJson(c.req.raw, limits.body_ms, decodePushSubscription);
    if (pushes?.accepts(subscription) === false) {
      throw new Refusal("bad_request", "This relay does not send to that push service.");
    }
    await store.putPush(id, JSON.stringify(subscription));
    return c.json({});
  });

  app.get(PUSH_KEY_PATH, (c) => {
    if (options.push === undefined) throw new Refusal("unknown_path", "This relay sends no pushes.");
    return c.json({ key: options.push.key.public_key });
  });

  const methods = {
    "/healthz": "GET",
    [PUSH_KEY_PATH]: "GET",
    "/v1/mailboxes/:id": "PUT, DELETE",
    "/v1/mailboxes/:id/messages": "GET, POST, DELETE",
    "/v1/mailboxes/:id/push": "PUT",
  };
  for (const [path, allow] of Object.entries(methods)) {
    app.all(path, () => {
      throw new Refusal("method_not_allowed", `Only ${allow} works here.`, { allow });
    });
  }

  return {
    fetch: async (request, info) => await app.fetch(request, { remoteAddr: info?.remoteAddr }),
    stop: () => {
      stopping = true;
      pushes?.stop();
      waiters.stop();
    },
  };
}

/** A count in the query. Absent: `otherwise`. Throws {@link Refusal} `bad_request`. */
function countOf(c: Context<Env>, name: string, otherwise: number, max?: number): number {
  const text = c.req.query(name);
  if (text === undefined) return otherwise;
  const count = decodeCount(text, max);
  if (count === null) throw new Refusal("bad_request", `${name} must be a whole number in its range.`);
  return count;
}

/** What failed, without the error's own text, which could quote a request. */
function reasonOf(error: Error): string {
  const { code, errstr } = error as { code?: unknown; errstr?: unknown };
  return [error.name, code, errstr].filter((part) => typeof part === "string").join(" ");
}
