/** Messages to readers: as one page, after a wait if need be, or as an endless event stream. */

import type { WireMessage } from "@custos/core/relay_wire";
import { Refusal, tooMany } from "./refusal.ts";
import type { Store, StoredMessage } from "./store.ts";
import type { Ring, Waiter, Waiters } from "./waiters.ts";

/** What a reader asks for. `left` tells that the reader's connection is gone. */
export interface Reading {
  id: string;
  after: number;
  left: AbortSignal;
}

/** Delivers from one store. */
export class Delivery {
  readonly #store: Store;
  readonly #waiters: Waiters;

  constructor(store: Store, waiters: Waiters) {
    this.#store = store;
    this.#waiters = waiters;
  }

  /** What is above `after`, or what comes first within `wait_ms`; else nothing. Throws `Refusal`. */
  async page(reading: Reading, wait_ms: number): Promise<WireMessage[]> {
    const { waiter, close } = this.#open(reading);
    const deadline = performance.now() + wait_ms;
    try {
      for (;;) {
        const page = await this.#read(reading.id, reading.after);
        const left_ms = deadline - performance.now();
        if (page.length > 0 || left_ms <= 0) return page.map(toWire);
        const ring = await waiter.wait(left_ms);
        if (ring === "time" || ring === "left") return [];
        if (ring !== "changed") throw ended(ring);
      }
    } finally {
      close();
    }
  }

  /**
   * Server-sent events: `id` and `data` (one message as JSON) for each message, a comment every `heartbeat_ms`. Read only
   * as fast as the reader takes it; what a slow one has not taken stays in the store (B153).
   */
  events(reading: Reading, heartbeat_ms: number): ReadableStream<Uint8Array> {
    const { waiter, close } = this.#open(reading);
    const encoder = new TextEncoder();
    let after = reading.after;
    let text = ": open\n\n"; // at once, so that a reader knows that it is connected
    const next = async (): Promise<string | null> => {
      for (;;) {
        const page = await this.#read(reading.id, after);
        after = page.at(-1)?.seq ?? after;
        if (page.length > 0) return page.map(toEvent).join("");
        const ring = await waiter.wait(heartbeat_ms);
        if (ring === "time") return ": still here\n\n";
        if (ring !== "changed") return null;
      }
    };
    return new ReadableStream({
      async pull(controller) {
        const chunk = text || await next().catch(() => null); // a removed mailbox or failed store ends the stream
        text = "";
        if (chunk !== null) return controller.enqueue(encoder.encode(chunk));
        close();
        controller.close();
      },
      cancel() {
        waiter.ring("left");
        close();
      },
    });
  }

  #open({ id, left }: Reading): { waiter: Waiter; close: () => void } {
    const waiter = this.#waiters.open(id);
    const unwatch = this.#store.watch(id, () => waiter.ring("changed")); // before the first read: no gap between them
    const leave = () => waiter.ring("left");
    left.addEventListener("abort", leave);
    const close = () => {
      left.removeEventListener("abort", leave);
      unwatch();
      this.#waiters.close(id, waiter);
    };
    return { waiter, close };
  }

  async #read(id: string, after: number): Promise<StoredMessage[]> {
    const page = await this.#store.read(id, after);
    if (page === null) throw new Refusal("unknown_mailbox", "There is no such mailbox. Make it again.");
    return page;
  }
}

/** The refusal that ends a poll. */
function ended(ring: Ring): Refusal {
  if (ring === "replaced") return tooMany("Newer readers took this one's place.", 5_000);
  return new Refusal("stopping", "The relay is stopping. Come again soon.", { "retry-after": "1" });
}

function toWire({ seq, posted_ms, data }: StoredMessage): WireMessage {
  return { seq, posted_ms, data: data.toBase64({ alphabet: "base64url", omitPadding: true }) };
}

function toEvent(message: StoredMessage): string {
  return `id: ${message.seq}\ndata: ${JSON.stringify(toWire(message))}\n\n`;
}
