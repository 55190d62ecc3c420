/** An API for large bodies: it counts and hashes what comes, and makes up what goes, without holding either. */

import { toHex } from "@custos/core/bytes";
import { Sha256Stream } from "../../daemon/egress/sha256_stream.ts";

/** One request as it came. */
export interface Taken {
  method: string;
  path: string;
  headers: Record<string, string>;
  bytes: number;
  sha256: string;
  /** Whether all of the body came. */
  whole: boolean;
}

/**
 * Routes, by the beginning of the path:
 *
 * - `/bytes/N…`: N bytes of a pattern, as fast as they are taken
 * - everything else: reads the body and says `ok`
 */
export class BulkApi implements AsyncDisposable {
  readonly taken: Taken[] = [];
  /** Bytes of the largest answer that were asked of this side so far. */
  given = 0;
  /** Requests that have come, whole or not. */
  begun = 0;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #stop = new AbortController();

  constructor() {
    this.#server = Deno.serve({
      hostname: "127.0.0.1",
      port: 0,
      onListen() {},
      signal: this.#stop.signal,
    }, (request) => this.#answer(request));
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** The requests for a path. */
  at(path: string): Taken[] {
    return this.taken.filter((one) => one.path === path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#server.finished;
  }

  async #answer(request: Request): Promise<Response> {
    this.begun++;
    const path = new URL(request.url).pathname;
    const hash = new Sha256Stream();
    let bytes = 0;
    let whole = true;
    try {
      for await (const part of request.body ?? []) {
        hash.update(part);
        bytes += part.length;
      }
    } catch {
      whole = false;
    }
    this.taken.push({
      method: request.method,
      path,
      headers: Object.fromEntries(request.headers),
      bytes,
      sha256: toHex(await hash.digest()),
      whole,
    });
    const size = /^\/bytes\/(\d+)/.exec(path)?.[1];
    return size === undefined ? new Response("ok") : new Response(this.#pattern(Number(size)));
  }

  #pattern(size: number): ReadableStream<Uint8Array> {
    let left = size;
    return new ReadableStream({
      pull: (controller) => {
        if (left === 0) return controller.close();
        const part = PATTERN.slice(0, Math.min(left, PATTERN.length));
        left -= part.length;
        this.given += part.length;
        controller.enqueue(part);
      },
    }, { highWaterMark: 0 });
  }
}

/** Every byte value, over and over. */
export const PATTERN: Uint8Array<ArrayBuffer> = Uint8Array.from({ length: 65_536 }, (_, i) => (i * 7) & 255);

/** SHA-256 of so many bytes of the pattern, as hex. */
export async function patternHash(size: number): Promise<string> {
  const hash = new Sha256Stream();
  for (let left = size; left > 0; left -= PATTERN.length) hash.update(PATTERN.subarray(0, left));
  return toHex(await hash.digest());
}

/** So many bytes of the pattern, a piece at a time. */
export function patternStream(size: number, onPiece: () => void = () => {}): ReadableStream<Uint8Array> {
  let left = size;
  return new ReadableStream({
    pull(controller) {
      if (left <= 0) return controller.close();
      controller.enqueue(PATTERN.slice(0, Math.min(left, PATTERN.length)));
      left -= PATTERN.length;
      onPiece();
    },
  }, { highWaterMark: 0 });
}
