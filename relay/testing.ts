/** A real relay on this machine for tests: a temporary folder, a free port, and requests as a careless client makes them. */

import { hashToken, mailboxPath, messagesPath } from "@custos/core/relay_wire";
import type { RelayOptions } from "./app.ts";
import { SqliteStore } from "./sqlite_store.ts";
import { type RunningRelay, startRelay } from "./start.ts";

/** Id and tokens of one mailbox. */
export interface TestMailbox {
  id: string;
  read: string;
  write: string;
}

/** A mailbox of its own for each letter. */
export function mailboxOf(letter: string): TestMailbox {
  return {
    id: letter.repeat(25) + "a",
    read: `r${letter}`.padEnd(42, "0") + "A",
    write: `w${letter}`.padEnd(43, "A"),
  };
}

/** What a test may choose. `now` is the clock of the store, `clock` that of the rate limits. */
export type TestOptions = Omit<RelayOptions, "store" | "now"> & { now?: () => number; clock?: () => number };

/** A relay under test. */
export class TestRelay {
  #running: RunningRelay | null = null;
  #store: SqliteStore | null = null;
  readonly #parent: string = Deno.makeTempDirSync();
  readonly #options: TestOptions;

  constructor(options: TestOptions) {
    this.#options = options;
  }

  /** The relay's base URL. */
  get url(): string {
    return this.#running!.addresses[0]!;
  }

  async start(): Promise<void> {
    const { now, clock, ...options } = this.#options;
    const store = this.#store = new SqliteStore(`${this.#parent}/relay`, { limits: options.limits, now });
    const listen = [{ hostname: "127.0.0.1", port: 0 }];
    this.#running = await startRelay({ ...options, now: clock, store, listen });
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.stop();
  }

  /** Makes every later use of the store fail. */
  breakStore(): void {
    this.#store!.close();
  }

  /** Throws the data away, as a relay does whose disk is lost. The relay must be stopped. */
  loseData(): void {
    Deno.removeSync(`${this.#parent}/relay`, { recursive: true });
  }

  async end(): Promise<void> {
    await this.stop();
    Deno.removeSync(this.#parent, { recursive: true });
  }

  /** One request; `token` becomes the `Authorization` header. */
  async call(
    method: string,
    path: string,
    { token, ...init }: RequestInit & { token?: string; headers?: Record<string, string> } = {},
  ): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> {
    const headers: Record<string, string> = { ...init.headers };
    if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
    const response = await fetch(this.url + path, { ...init, method, headers });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
  }

  /** Makes a mailbox; returns the status. */
  async make(box: TestMailbox, headers: Record<string, string> = {}): Promise<number> {
    const body = JSON.stringify({
      read_hash: await hashToken(box.read),
      write_hash: await hashToken(box.write),
    });
    const type = { "content-type": "application/json", ...headers };
    return (await this.call("PUT", mailboxPath(box.id), { body, headers: type })).status;
  }

  /** Posts text; returns the status and the body of the reply. */
  async post(
    box: TestMailbox,
    text: string,
    { query = "", headers = {} as Record<string, string> } = {},
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const type = { "content-type": "application/octet-stream", ...headers };
    return await this.call("POST", messagesPath(box.id) + query, {
      token: box.write,
      body: text,
      headers: type,
    });
  }

  /** Reads the texts above `after`. */
  async texts(box: TestMailbox, after = 0, wait_ms = 0): Promise<string[]> {
    const { body } = await this.call("GET", `${messagesPath(box.id)}?after=${after}&wait_ms=${wait_ms}`, {
      token: box.read,
    });
    return (body["messages"] as { data: string }[]).map((m) =>
      atob(m.data.replace(/-/g, "+").replace(/_/g, "/"))
    );
  }
}

/** Runs `body` against a relay of its own and leaves nothing behind. */
export async function withRelay(
  options: TestOptions,
  body: (relay: TestRelay) => Promise<void>,
): Promise<void> {
  const relay = new TestRelay(options);
  try {
    await relay.start();
    await body(relay);
  } finally {
    await relay.end();
  }
}
