/**
 * The daemon's side of an egress cell: one worker that holds one secret in plaintext and may reach that secret's hosts
 * (DESIGN §12). The only way from the daemon to an upstream API.
 */

import { CustosError } from "@custos/core/errors";
import type { Policy } from "@custos/core/policy";
import { checkTarget, parseTarget } from "@custos/core/target";
import { checkAddresses } from "./address_check.ts";
import type { FromCell, ToCell } from "./cell_protocol.ts";
import { cellHosts, type CellProfile, startWorker } from "./cell_worker.ts";
import { Outbox } from "./outbox.ts";
import { type CellResponse, PendingAnswer } from "./pending_answer.ts";
import { checkBody, isLargeBody, type OutgoingBody, transferableBody } from "./request_body.ts";
import { Slots } from "./slots.ts";
import { checkLimits, type TimeLimits } from "./time_limits.ts";

/** A request as it was approved: method, URL and headers as `parseTarget` and `checkHeaders` return them. */
export interface OutgoingRequest {
  method: string;
  url: string;
  headers: readonly (readonly [string, string])[];
  /** Bytes are copied; a stream is taken over. */
  body: OutgoingBody;
  /** How many bytes a stream will give, where that is known; without it a stream is sent chunked. */
  body_bytes?: number;
}

/** How to run a request. Time limits are in milliseconds, with defaults of `DEFAULT_LIMITS`. */
export interface RequestOptions extends Partial<TimeLimits> {
  /** Aborts the request, upstream too, when the agent leaves. */
  signal?: AbortSignal;
  /** Most bytes of the scrubbed body. */
  max_bytes: number;
  /** Only under a timed grant: the runtime may repeat a GET or HEAD on a kept connection (DESIGN §9). */
  keep_alive?: boolean;
}

/** One cell. Ends with {@link Cell.terminate} or with an uncaught error of its worker, and cannot be used afterwards. */
export class Cell {
  readonly #worker: Worker;
  readonly #policy: Policy;
  readonly #profile: CellProfile;
  readonly #slots: Slots = new Slots();
  readonly #pending: Map<number, PendingAnswer> = new Map();
  readonly #outbox: Outbox<ToCell> = new Outbox((messages, transfer) => {
    if (this.#ended === null) this.#worker.postMessage(messages, transfer);
  });
  readonly #opened: PromiseWithResolvers<void> = Promise.withResolvers();
  #lastId = 0;
  #ended: CustosError | null = null;

  /** Takes a worker that speaks the cell protocol; use {@link Cell.start}. */
  constructor(worker: Worker, policy: Policy, profile: CellProfile) {
    this.#worker = worker;
    this.#policy = policy;
    this.#profile = profile;
    this.#opened.promise.catch(() => {});
    worker.addEventListener("message", ({ data }: MessageEvent<FromCell[]>) => {
      for (const message of data) this.#receive(message);
    });
    const crashed = (event: Event) => {
      event.preventDefault(); // contained: an error of one cell is not one of the daemon
      this.terminate(
        new CustosError("internal", `The sandbox of custos:${policy.name} stopped with an error.`),
      );
    };
    worker.addEventListener("error", crashed);
    worker.addEventListener("messageerror", crashed);
  }

  /** Starts a cell for a policy. Throws `private_address` where the profile does not allow one of its origins. */
  static start(policy: Policy, profile: CellProfile): Cell {
    return new Cell(startWorker(cellHosts(policy, profile)), policy, profile);
  }

  /** Why the cell ended, or `null` while it lives. */
  get ended(): CustosError | null {
    return this.#ended;
  }

  /** Requests that run or whose answers are still on their way. */
  get active(): number {
    return this.#pending.size;
  }

  /**
   * Gives the cell its secret: the age file, the key of exactly this file, and the hash of the policy that the human
   * signed. Call once. Throws what `openSecret` throws.
   */
  async open(ageFile: Uint8Array, fileKey: Uint8Array, policyHash: string): Promise<void> {
    if (this.#ended !== null) throw this.#ended;
    const message = { age_file: ageFile, file_key: fileKey, policy: this.#policy, policy_hash: policyHash };
    this.#post({ type: "open", ...message });
    await this.#opened.promise;
  }

  /**
   * Sends one request, once, and resolves when its answer's headers are there. Rejects with a `CustosError`:
   * `outcome_unknown` wherever something may have been sent, the precise kind where nothing was. An answer's body must be
   * read or cancelled; until then it keeps its place.
   */
  async request(outgoing: OutgoingRequest, options: RequestOptions): Promise<CellResponse> {
    const target = parseTarget(outgoing.method, outgoing.url);
    checkTarget(this.#policy, target);
    checkBody(outgoing.body, target, this.#policy);
    const limits = checkLimits(options, isLargeBody(outgoing.body));
    if (!Number.isSafeInteger(options.max_bytes) || options.max_bytes < 0) {
      throw new CustosError("bad_request", "The limit of an answer must be a whole number of bytes.");
    }
    await this.#opened.promise;
    if (this.#profile.lan && !this.#policy.limits.private_network) await checkAddresses(target);
    const bytes = outgoing.body instanceof Uint8Array ? outgoing.body.length : 0;
    const release = await this.#slots.take(bytes, options.signal);
    if (this.#ended !== null || options.signal?.aborted) {
      release();
      throw this.#ended ?? new CustosError("withdrawn", "The caller left before the request was sent.");
    }
    const { method, url, body_bytes = null } = outgoing;
    const { body, letGo } = transferableBody(outgoing.body);
    const headers = outgoing.headers.map(([name, value]): [string, string] => [name, value]);
    const id = ++this.#lastId;
    const pending = this.#track(id, options.signal, () => {
      letGo();
      release();
    });
    const { max_bytes, keep_alive = false } = options;
    const transfer = body instanceof ReadableStream ? [body] : [];
    this.#post(
      { type: "request", id, method, url, headers, body, body_bytes, max_bytes, keep_alive, ...limits },
      transfer,
    );
    return await pending.response;
  }

  /**
   * Ends the cell at once, and the plaintext with it. What waits is refused with `reason`, what may be on the network with
   * `outcome_unknown`; every reader ends. A second call changes nothing.
   */
  terminate(reason: CustosError): void {
    if (this.#ended !== null) return;
    this.#ended = reason;
    this.#worker.terminate();
    this.#opened.reject(reason);
    this.#slots.stop(reason);
    const text = `${reason.message} The request may have been carried out, so look before you send it again.`;
    for (const pending of [...this.#pending.values()]) pending.fail(new CustosError("outcome_unknown", text));
  }

  #track(id: number, signal: AbortSignal | undefined, release: () => void): PendingAnswer {
    const left = () =>
      pending.fail(new CustosError("outcome_unknown", "The caller left while the request ran."));
    const pending = new PendingAnswer({
      credit: (bytes) => this.#post({ type: "credit", id, bytes }),
      abort: () => this.#post({ type: "abort", id }),
      done: () => {
        this.#pending.delete(id);
        signal?.removeEventListener("abort", left);
        release();
      },
    });
    this.#pending.set(id, pending);
    signal?.addEventListener("abort", left, { once: true });
    return pending;
  }

  #receive(message: FromCell): void {
    if (message.type === "opened") return this.#opened.resolve();
    if (message.type === "refused") {
      return this.#opened.reject(new CustosError(message.kind, message.message));
    }
    const pending = this.#pending.get(message.id); // absent once the caller left
    switch (message.type) {
      case "head":
        return pending?.head(message.head);
      case "chunk":
        return pending?.chunk(message.bytes);
      case "end":
        return pending?.end(message.summary);
      case "whole":
        return pending?.whole(message.head, message.bytes, message.summary);
      case "failed":
        return pending?.fail(new CustosError(message.kind, message.message));
    }
  }

  #post(message: ToCell, transfer: Transferable[] = []): void {
    if (this.#ended === null) this.#outbox.send(message, transfer);
  }
}
