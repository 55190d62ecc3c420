/** The daemon's side of one request in a cell: an answer on its way, and its one end, good or bad. */

import { CustosError } from "@custos/core/errors";
import { type CellHead, type CellSummary, CREDIT_STEP_BYTES } from "./cell_protocol.ts";

/** An answer with its body as it comes. */
export interface CellResponse extends CellHead {
  /** The whole answer, where it came in one message; `body` holds the same. */
  whole: { bytes: Uint8Array; summary: CellSummary } | null;
  /** The scrubbed body. Errors with the same `CustosError` as `finished`; what came before that is incomplete. */
  body: ReadableStream<Uint8Array>;
  /** Settles once: with the summary when the body is complete or cut at `max_bytes`, else with a `CustosError`. */
  finished: Promise<CellSummary>;
}

/** What a pending answer asks of its cell. */
export interface CellLine {
  credit(bytes: number): void;
  abort(): void;
  /** Called exactly once, when the answer ended in any way. */
  done(): void;
}

/**
 * Collects one answer. Every reader is kept and settled here, because the reader of a stream that comes from a terminated
 * worker would hang for ever.
 */
export class PendingAnswer {
  /** The response, once its headers are there. */
  readonly response: Promise<CellResponse>;
  readonly #line: CellLine;
  readonly #head: PromiseWithResolvers<CellResponse> = Promise.withResolvers();
  readonly #finished: PromiseWithResolvers<CellSummary> = Promise.withResolvers();
  readonly #queue: Uint8Array[] = [];
  #end: CellSummary | CustosError | null = null;
  #pulled: (() => void) | null = null;
  #taken = 0;
  #body: ReadableStream<Uint8Array> | null = null;

  constructor(line: CellLine) {
    this.#line = line;
    this.response = this.#head.promise;
    // both are also for callers who look at only one of them
    this.#head.promise.catch(() => {});
    this.#finished.promise.catch(() => {});
  }

  /** Headers came. */
  head(head: CellHead, whole: CellResponse["whole"] = null): void {
    const stream = () => this.#body ??= this.#open();
    this.#head.resolve({
      ...head,
      whole,
      finished: this.#finished.promise,
      get body() { // made when it is asked for: most answers are read as a whole
        return stream();
      },
    });
  }

  /** Everything came at once. */
  whole(head: CellHead, bytes: Uint8Array, summary: CellSummary): void {
    this.head(head, { bytes, summary });
    this.chunk(bytes);
    this.end(summary);
  }

  /** A part of the body came. */
  chunk(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#queue.push(bytes);
    this.#pulled?.();
  }

  /** The body is complete. */
  end(summary: CellSummary): void {
    this.#settle(summary);
  }

  /** The request failed, here or in the cell. Later calls change nothing. */
  fail(error: CustosError): void {
    if (this.#end !== null) return;
    this.#line.abort();
    this.#settle(error);
  }

  #open(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      pull: (controller) => this.#pull(controller),
      cancel: () =>
        this.fail(new CustosError("outcome_unknown", "The caller left before the answer was complete.")),
    }, { highWaterMark: 0 });
  }

  #settle(end: CellSummary | CustosError): void {
    if (this.#end !== null) return;
    this.#end = end;
    if (end instanceof CustosError) {
      this.#head.reject(end);
      this.#finished.reject(end);
    } else {
      this.#finished.resolve(end);
    }
    this.#pulled?.();
    this.#line.done();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (this.#queue.length === 0 && this.#end === null) {
      await new Promise<void>((resolve) => this.#pulled = resolve);
    }
    const bytes = this.#queue.shift();
    if (bytes !== undefined) {
      this.#taken += bytes.length;
      if (this.#end === null && (this.#taken >= CREDIT_STEP_BYTES || this.#queue.length === 0)) {
        this.#line.credit(this.#taken);
        this.#taken = 0;
      }
      return controller.enqueue(bytes);
    }
    if (this.#end instanceof CustosError) controller.error(this.#end);
    else controller.close();
  }
}
