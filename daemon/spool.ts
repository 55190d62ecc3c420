/**
 * Request bodies that are too large for memory, as files in `<state>/spool/` (DESIGN §9): for their owner only, within a
 * quota, and gone with the request, or at the next start after a crash.
 */

import { type Bytes, concat, randomBytes, toHex } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import { type FixedBody, memoryBody } from "./fixed_body.ts";
import { failed, SpoolFile } from "./spool_file.ts";
import { ensurePrivateFolder } from "./state_folder.ts";

/** Largest body that stays in memory, in bytes. */
export const IN_MEMORY_BYTES = 1_048_576;
/** Most bytes of all files together: four bodies of the largest size. */
export const SPOOL_QUOTA_BYTES = 268_435_456;
/** Most files at a time. */
export const SPOOL_FILES = 32;

/** The files of one daemon. */
export class Spool {
  readonly #folder: string;
  #files = 0;
  #bytes = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Makes the folder, and removes what a daemon that died has left in it. Throws `storage`. */
  static open(state: string): Spool {
    const folder = `${state}/spool`;
    ensurePrivateFolder(folder);
    for (const { name } of Deno.readDirSync(folder)) {
      Deno.removeSync(`${folder}/${name}`, { recursive: true });
    }
    return new Spool(folder);
  }

  /** Bytes in all files now. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Takes a body in. Throws what `source` throws, `body_too_large` above `max` bytes, `too_many_pending` where the quota
   * is used up, and `storage`; nothing of it is left behind then.
   */
  async take(source: ReadableStream<Bytes>, max: number): Promise<FixedBody> {
    const reader = source.getReader();
    const parts: Bytes[] = [];
    let size = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return await memoryBody(concat(...parts));
        size += value.length;
        if (size > max) throw tooLarge(max);
        parts.push(value);
        if (size > IN_MEMORY_BYTES) return await this.#spill(parts, reader, max);
      }
    } catch (error) {
      reader.cancel(error).catch(() => {});
      throw error;
    }
  }

  async #spill(
    parts: Bytes[],
    reader: ReadableStreamDefaultReader<Bytes>,
    max: number,
  ): Promise<FixedBody> {
    if (this.#files >= SPOOL_FILES) throw tooMany();
    this.#files++;
    const path = `${this.#folder}/${toHex(randomBytes(16))}`;
    const file = new SpoolFile(path, {
      reserve: (bytes) => {
        if (this.#bytes + bytes > SPOOL_QUOTA_BYTES) throw tooMany();
        this.#bytes += bytes;
      },
      release: (bytes) => {
        this.#bytes -= bytes;
        this.#files--;
      },
    });
    try {
      await file.open();
      for (const part of parts.splice(0)) await file.write(part);
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        if (file.size + value.length > max) throw tooLarge(max);
        await file.write(value);
      }
      await file.close();
      return file;
    } catch (error) {
      file.dispose();
      throw error instanceof CustosError ? error : failed("could not be written. Is the disk full?");
    }
  }
}

function tooLarge(max: number): CustosError {
  return new CustosError(
    "body_too_large",
    `The body has more than the ${max} bytes that are allowed. Nothing was sent.`,
  );
}

function tooMany(): CustosError {
  return new CustosError(
    "too_many_pending",
    "Too many large bodies are waiting already. Try again when they are answered.",
  );
}
