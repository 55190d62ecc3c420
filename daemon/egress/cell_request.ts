/** One request inside a cell: checked again, composed, sent once, its answer scrubbed (DESIGN §12). */

import { toBase64url } from "@custos/core/bytes";
import { asCustosError, type CustosError } from "@custos/core/errors";
import { checkHeaders } from "@custos/core/header_rules";
import { checkTarget, parseTarget, type Target } from "@custos/core/target";
import type { AnswerWriter } from "./answer_writer.ts";
import { type CellSummary, type RequestMessage, WHOLE_BYTES } from "./cell_protocol.ts";
import { type CellSecret, withSecret } from "./cell_secret.ts";
import { brokenBody, classifyFetchError, timedOut } from "./fetch_errors.ts";
import { OutputLimit } from "./output_limit.ts";
import { checkBody, limitBody } from "./request_body.ts";
import { checkResponse, scrubHeaders } from "./response_rules.ts";
import { type Piece, Scrubber } from "./scrubber.ts";
import { MAX_RUNNING } from "./slots.ts";
import { Sha256Stream } from "./sha256_stream.ts";

/**
 * Clients of one cell, each made when it is first needed. IPv4 only, because the runtime's deny list cannot name ranges of
 * IPv6 (DESIGN §3).
 */
export class CellClients {
  #fresh: Deno.HttpClient | null = null;
  #kept: Deno.HttpClient | null = null;

  /** Never uses a connection twice, so the runtime cannot send a request twice (B167). */
  get fresh(): Deno.HttpClient {
    return this.#fresh ??= Deno.createHttpClient({ localAddress: "0.0.0.0", poolMaxIdlePerHost: 0 });
  }

  /** For reads that may be repeated. As many connections as a cell runs requests, or they would be opened anew. */
  get kept(): Deno.HttpClient {
    const idle = { poolMaxIdlePerHost: MAX_RUNNING, poolIdleTimeout: 30_000 };
    return this.#kept ??= Deno.createHttpClient({ localAddress: "0.0.0.0", ...idle });
  }
}

/** Sends one request and writes its answer. Throws a `CustosError` that holds no text of the network's. */
export async function runRequest(
  secret: CellSecret,
  clients: CellClients,
  message: RequestMessage,
  writer: AnswerWriter,
  abort: AbortController,
): Promise<void> {
  const target = parseTarget(message.method, message.url);
  checkTarget(secret.policy, target);
  const headers = checkHeaders(secret.policy, message.headers);
  checkBody(message.body, target, secret.policy);
  const deadline = new Deadline(message, target, abort);
  try {
    const response = await send(secret, clients, message, target, headers, deadline);
    await deadline.guard(() => pass(secret, response, message.max_bytes, target, writer, abort));
  } finally {
    deadline.clear();
  }
}

async function send(
  secret: CellSecret,
  clients: CellClients,
  message: RequestMessage,
  target: Target,
  headers: [string, string][],
  deadline: Deadline,
): Promise<Response> {
  const out = withSecret(secret.placed, target, headers);
  const mayRepeat = message.keep_alive && (target.method === "GET" || target.method === "HEAD");
  const body = limitBody(message.body, message.body_bytes, secret.policy);
  const response = await deadline.guard(async () => {
    try {
      return await fetch(out.url, {
        method: target.method,
        headers: out.headers,
        body: body.body,
        redirect: "manual", // a redirect is the agent's to follow, without the secret (B25–B36)
        signal: deadline.signal,
        client: mayRepeat ? clients.kept : clients.fresh,
      });
    } catch (error) {
      throw body.exceeded() ?? classifyFetchError(error, target);
    }
  });
  deadline.headersCame();
  try {
    checkResponse(response.status, response.headers, target);
  } catch (error) {
    await response.body?.cancel().catch(() => {});
    throw error;
  }
  return response;
}

/** Passes the answer on: scrub first, limit after (B65). */
async function pass(
  secret: CellSecret,
  response: Response,
  maxBytes: number,
  target: Target,
  writer: AnswerWriter,
  abort: AbortController,
): Promise<void> {
  const { headers, redactions } = scrubHeaders(response.status, response.headers, target, secret);
  const small = isSmall(response);
  writer.head({ status: response.status, headers }, small);
  const scrubber = new Scrubber(secret.index, secret.marker);
  const limit = new OutputLimit(maxBytes);
  const hash = new Sha256Stream();
  let received = 0;
  const write = (pieces: Piece[]) => {
    const bytes = limit.take(pieces);
    hash.update(bytes);
    writer.write(bytes);
  };
  const reader = small ? null : response.body!.getReader();
  try {
    if (reader === null) {
      const whole = new Uint8Array(await response.arrayBuffer()); // several times faster than a reader
      received = whole.length;
      write(scrubber.push(whole));
    }
    while (reader !== null && !limit.truncated) {
      await writer.mayWrite();
      abort.signal.throwIfAborted();
      const next = await reader.read();
      if (next.done) break;
      received += next.value.length;
      write(scrubber.push(next.value));
    }
  } catch {
    write(scrubber.cut());
    throw brokenBody(target, received);
  }
  if (!limit.truncated) write(scrubber.end());
  if (limit.truncated) abort.abort();
  const summary: CellSummary = {
    redactions: redactions + scrubber.redactions,
    truncated: limit.truncated,
    received_bytes: received,
    sha256: toBase64url(await hash.digest()),
  };
  writer.end(summary);
}

/** Whether a body may be read in one go: none, or short by its declared length and not one that unpacks to more. */
function isSmall(response: Response): boolean {
  if (response.body === null) return true;
  const declared = Number(response.headers.get("content-length") ?? NaN);
  return declared <= WHOLE_BYTES && response.headers.get("content-encoding") === null;
}

/**
 * The two time limits of a request; the one for headers ends when they come, the total one with the body (B77, B78). One
 * timer serves both, because most requests end before either.
 */
class Deadline {
  readonly #message: RequestMessage;
  readonly #target: Target;
  readonly #abort: AbortController;
  readonly #started = performance.now();
  #timer: ReturnType<typeof setTimeout>;
  #waitsForHeaders = true;
  #over: CustosError | null = null;

  constructor(message: RequestMessage, target: Target, abort: AbortController) {
    this.#message = message;
    this.#target = target;
    this.#abort = abort;
    this.#timer = setTimeout(() => this.#ring(), Math.min(message.header_ms, message.total_ms));
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Runs `work`; what fails after a limit was over failed because of it. */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#over ?? asCustosError(error);
    }
  }

  headersCame(): void {
    this.#waitsForHeaders = false;
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  #ring(): void {
    const { header_ms, total_ms } = this.#message;
    const what = this.#waitsForHeaders && header_ms <= total_ms ? "headers" : "total";
    const left = this.#started + total_ms - performance.now();
    if (what === "total" && left > 0) {
      this.#timer = setTimeout(() => this.#ring(), Math.ceil(left));
      return;
    }
    this.#over = timedOut(this.#target, what === "headers" ? header_ms : total_ms, what);
    this.#abort.abort();
  }
}
