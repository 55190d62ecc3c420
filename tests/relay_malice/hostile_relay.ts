/**
 * A relay that does what a test tells it to. Underneath is the real one with its real store, so that it is honest wherever
 * the test does not say otherwise; and it keeps all that it sees, as a curious operator would.
 *
 * Phone and daemon have a door each, so that a test can treat them differently.
 */

import type { Bytes } from "@custos/core/bytes";
import { createRelay, type Relay, type RelayLimits, SqliteStore } from "@custos/relay";

/** Who came through which door. */
export type Caller = "daemon" | "phone";
/** What was asked for. */
export type Asked = "make" | "remove" | "post" | "read" | "ack" | "other";

/** One request on its way through the relay. */
export interface Passing {
  from: Caller;
  kind: Asked;
  mailbox: string;
  request: Request;
  /** What was posted; empty for everything else. */
  data: Bytes;
  /** Answers as an honest relay would, with other data if some are given. */
  pass(data?: Bytes): Promise<Response>;
}

/** What a relay does with a request. */
export type Act = (passing: Passing) => Response | Promise<Response>;

/** A message as it was posted. */
export interface Frame {
  from: Caller;
  mailbox: string;
  data: Bytes;
}

const HONEST: Act = (passing) => passing.pass();

/** Where a test does not say so, no limit stands in its way. */
const NO_LIMITS: Partial<RelayLimits> = {
  mailbox_messages_max: 20_000,
  mailbox_bytes_max: 64 * 1024 ** 2,
  address_burst: 1e6,
  address_per_second: 1e6,
  address_mailboxes_per_hour: 1e6,
};

/** The relay. */
export class HostileRelay implements AsyncDisposable {
  /** What it does now. A change counts from the next request on. */
  act: Act = HONEST;
  /** Every message that was posted, in order. */
  readonly frames: Frame[] = [];
  /** Everything else that it sees: methods, addresses, headers and bodies of requests. */
  readonly seen: string[] = [];
  /** How many requests came from each side. */
  readonly calls: Record<Caller, number> = { daemon: 0, phone: 0 };
  readonly urls: Record<Caller, string>;
  readonly #cut = new AbortController();
  readonly #servers: Deno.HttpServer[] = [];
  #store!: SqliteStore;
  #app!: Relay;

  /** Listens at once. `folder` is where the real store lives. */
  constructor(readonly folder: string, readonly limits: Partial<RelayLimits> = NO_LIMITS) {
    this.#open();
    this.urls = { daemon: this.#serve("daemon"), phone: this.#serve("phone") };
  }

  /** Is honest again. */
  behave(): void {
    this.act = HONEST;
  }

  /** Leaves a message in a mailbox. The relay needs no token for that. `false` where the mailbox is full. */
  async plant(mailbox: string, data: Bytes): Promise<boolean> {
    const { kind } = await this.#store.append(mailbox, data, 60_000);
    if (kind === "gone") throw new Error("There is no such mailbox.");
    return kind === "stored";
  }

  /** How many messages a mailbox holds above a position; more than a page count as a page. */
  async holds(mailbox: string, after: number): Promise<number> {
    return (await this.#store.read(mailbox, after))?.length ?? 0;
  }

  /** Loses all its data. */
  async lose(): Promise<void> {
    this.#app.stop();
    this.#store.close();
    await Deno.remove(this.folder, { recursive: true });
    this.#open();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#app.stop();
    this.#cut.abort();
    await Promise.all(this.#servers.map((server) => server.finished));
    this.#store.close();
  }

  #open(): void {
    const { limits } = this;
    this.#store = new SqliteStore(this.folder, { limits });
    this.#app = createRelay({ store: this.#store, limits });
  }

  #serve(from: Caller): string {
    const server = Deno.serve({
      hostname: "127.0.0.1",
      port: 0,
      signal: this.#cut.signal,
      onListen: () => {},
      onError: () => new Response(null, { status: 500 }),
    }, (request) => this.#handle(from, request));
    this.#servers.push(server);
    return `http://127.0.0.1:${server.addr.port}`;
  }

  async #handle(from: Caller, request: Request): Promise<Response> {
    const { method, url, headers, signal } = request;
    const body = new Uint8Array(await request.arrayBuffer());
    const [, , mailbox = "", rest] = new URL(url).pathname.slice(1).split("/");
    const kind = kindOf(method, rest);
    this.calls[from]++;
    this.seen.push(`${method} ${url}\n${[...headers].join("\n")}`);
    const data = kind === "post" ? body : new Uint8Array(0);
    if (kind === "post") this.frames.push({ from, mailbox, data });
    else if (body.length > 0) this.seen.push(new TextDecoder().decode(body));
    const pass = (other: Bytes = body) => {
      const without = method === "GET" || other.length === 0;
      return this.#app.fetch(
        new Request(url, { method, headers, signal, ...(without ? {} : { body: other }) }),
      );
    };
    return await this.act({ from, kind, mailbox, request, data, pass });
  }
}

function kindOf(method: string, rest: string | undefined): Asked {
  if (rest === "messages") return method === "POST" ? "post" : method === "GET" ? "read" : "ack";
  if (rest !== undefined) return "other";
  return method === "PUT" ? "make" : method === "DELETE" ? "remove" : "other";
}
