/**
 * One large request body in a file. Each piece is hashed as it is written and checked as it is read, before it is passed
 * on, so that a file that was changed in between is refused and no changed byte leaves (B143).
 */

import { type Bytes, concat, equalBytes, toBase64url } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import { sha256 } from "@custos/core/labels";
import { Sha256Stream } from "./egress/sha256_stream.ts";
import { type FixedBody, HEAD_BYTES } from "./fixed_body.ts";

/** Bytes that are hashed, written, read and checked together. */
const PIECE_BYTES = HEAD_BYTES;

/** Counts the bytes of all files. `reserve` throws where there are too many. */
export interface SpoolQuota {
  reserve(bytes: number): void;
  /** Called once, with all that was reserved. */
  release(bytes: number): void;
}

/** A body in a file: `open`, `write` and `close` make it, `dispose` ends it in any state. */
export class SpoolFile implements FixedBody {
  size = 0;
  sha256 = "";
  head: Bytes = new Uint8Array(0);
  readonly #path: string;
  readonly #quota: SpoolQuota;
  readonly #pieces: Bytes[] = [];
  readonly #hash = new Sha256Stream();
  #file: Deno.FsFile | null = null;
  #held: Bytes = new Uint8Array(0);
  #disposed = false;

  constructor(path: string, quota: SpoolQuota) {
    this.#path = path;
    this.#quota = quota;
  }

  /** Makes the file, for its owner only. */
  async open(): Promise<void> {
    this.#file = await Deno.open(this.#path, { write: true, createNew: true, mode: 0o600 });
  }

  /** Adds bytes, which must not change afterwards. */
  async write(bytes: Bytes): Promise<void> {
    this.#quota.reserve(bytes.length);
    this.size += bytes.length;
    this.#held = this.#held.length === 0 ? bytes : concat(this.#held, bytes);
    for (; this.#held.length >= PIECE_BYTES; this.#held = this.#held.subarray(PIECE_BYTES)) {
      await this.#writePiece(this.#held.subarray(0, PIECE_BYTES));
    }
  }

  /** Ends the writing; `size`, `sha256` and `head` are what they stay. */
  async close(): Promise<void> {
    if (this.#held.length > 0) await this.#writePiece(this.#held);
    this.#held = new Uint8Array(0);
    this.sha256 = toBase64url(await this.#hash.digest());
    this.#closeFile();
  }

  async #writePiece(piece: Bytes): Promise<void> {
    if (this.#pieces.length === 0) this.head = piece.slice();
    this.#pieces.push(await sha256(piece));
    this.#hash.update(piece);
    for (let rest = piece; rest.length > 0;) rest = rest.subarray(await this.#file!.write(rest));
  }

  async check(): Promise<void> {
    for await (const _ of this.content());
  }

  content(): ReadableStream<Bytes> {
    const pieces = this.#pieces;
    const size = this.size;
    const path = this.#path;
    let file: Deno.FsFile | null = null;
    let at = 0;
    const close = () => {
      file?.close();
      file = null;
    };
    return new ReadableStream<Bytes>({
      async pull(controller) {
        try {
          file ??= await Deno.open(path, { read: true });
          const length = Math.min(PIECE_BYTES, size - at * PIECE_BYTES);
          if (length <= 0) {
            if (await file.read(new Uint8Array(1)) !== null) throw failed("has grown. It was not used.");
            close();
            return controller.close();
          }
          const piece = await readExactly(file, length);
          if (!equalBytes(await sha256(piece), pieces[at]!)) throw failed("was changed. It was not used.");
          at++;
          controller.enqueue(piece);
        } catch (error) {
          close();
          controller.error(error instanceof CustosError ? error : failed("cannot be read any more."));
        }
      },
      cancel: close,
    }, { highWaterMark: 0 });
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#closeFile();
    this.#quota.release(this.size);
    try {
      Deno.removeSync(this.#path);
    } catch {
      // gone already
    }
  }

  #closeFile(): void {
    this.#file?.close();
    this.#file = null;
  }
}

async function readExactly(file: Deno.FsFile, length: number): Promise<Bytes> {
  const out = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = await file.read(out.subarray(at));
    if (count === null) throw failed("was cut. It was not used.");
    at += count;
  }
  return out;
}

/** Never names the path: the text goes to agents. */
export function failed(what: string): CustosError {
  return new CustosError("storage", `The file that holds the request's body ${what} Ask again.`);
}
