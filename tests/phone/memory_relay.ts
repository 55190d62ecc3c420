/** A relay in memory behind `fetch`, for tests that watch, keep and repeat what passes through it. */

import { toBase64url } from "@custos/core/bytes";
import type { RelayFetch } from "@custos/core/relay_client";
import { hashToken, PAGE_MESSAGES_MAX } from "@custos/core/relay_wire";

interface Mailbox {
  read_hash: string;
  write_hash: string;
  messages: { seq: number; posted_ms: number; data: string }[];
  last_seq: number;
  waiting: Set<() => void>;
}

/** A message that passed, with the mailbox it was for. */
export interface Passed {
  mailbox: string;
  data: Uint8Array<ArrayBuffer>;
}

/** The relay. Everything that was posted stays in `passed`. */
export class MemoryRelay {
  readonly url = "https://relay.example.test";
  readonly passed: Passed[] = [];
  /** Answers every call as an unreachable server would. */
  down = false;
  readonly #mailboxes = new Map<string, Mailbox>();
  #seq = 0;

  /** The `fetch` of this relay. */
  readonly fetch: RelayFetch = async (url, init) => {
    if (this.down) throw new TypeError("error sending request");
    const { pathname, searchParams } = new URL(url);
    const [, , , id = "", rest] = pathname.split("/");
    if (rest === undefined && init.method === "PUT") return this.#create(id, JSON.parse(String(init.body)));
    const mailbox = this.#mailboxes.get(id);
    if (mailbox === undefined) return refuse(404, "unknown_mailbox");
    const token = await hashToken(new Headers(init.headers).get("authorization")?.slice(7) ?? "");
    if (token !== (init.method === "POST" ? mailbox.write_hash : mailbox.read_hash)) {
      return refuse(401, "unauthorized");
    }
    switch (init.method) {
      case "POST":
        return Response.json({ seq: this.post(id, init.body as Uint8Array<ArrayBuffer>), expires_ms: 1 });
      case "DELETE":
        mailbox.messages = mailbox.messages.filter((one) => one.seq > Number(searchParams.get("through")));
        return Response.json({});
      default:
        return await read(
          mailbox,
          Number(searchParams.get("after")),
          Number(searchParams.get("wait_ms")),
          init.signal,
        );
    }
  };

  /** Leaves a message, as anybody who knows the token could: also one that passed before. Returns its number. */
  post(id: string, data: Uint8Array<ArrayBuffer>): number {
    const mailbox = this.#mailboxes.get(id)!;
    this.passed.push({ mailbox: id, data: Uint8Array.from(data) });
    mailbox.messages.push({ seq: ++this.#seq, posted_ms: 0, data: toBase64url(data) });
    mailbox.last_seq = this.#seq;
    for (const wake of [...mailbox.waiting]) wake();
    return this.#seq;
  }

  /** Loses everything, as a relay without its data does. */
  lose(): void {
    for (const { waiting } of this.#mailboxes.values()) for (const wake of [...waiting]) wake();
    this.#mailboxes.clear();
    this.#seq = 0;
  }

  #create(id: string, hashes: { read_hash: string; write_hash: string }): Response {
    const known = this.#mailboxes.get(id);
    if (known !== undefined) {
      return known.read_hash === hashes.read_hash ? Response.json({}) : refuse(409, "mailbox_conflict");
    }
    this.#mailboxes.set(id, { ...hashes, messages: [], last_seq: 0, waiting: new Set() });
    return Response.json({}, { status: 201 });
  }
}

async function read(
  mailbox: Mailbox,
  after: number,
  wait_ms: number,
  signal: AbortSignal | null | undefined,
): Promise<Response> {
  const page = () => {
    const from = after > mailbox.last_seq ? 0 : after; // the reader knew a mailbox that was lost
    return mailbox.messages.filter((one) => one.seq > from).slice(0, PAGE_MESSAGES_MAX);
  };
  if (page().length === 0 && wait_ms > 0) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, wait_ms);
    signal?.addEventListener("abort", () => resolve(), { once: true });
    if (signal?.aborted) resolve(); // it ended while the token was checked
    mailbox.waiting.add(resolve);
    await promise;
    clearTimeout(timer);
    mailbox.waiting.delete(resolve);
    signal?.throwIfAborted();
  }
  return Response.json({ messages: page() });
}

function refuse(status: number, kind: string): Response {
  return Response.json({ kind, message: "refused" }, { status });
}
