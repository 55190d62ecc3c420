/**
 * The software phone's state folder (0700, files 0600): one file a daemon, the passkeys, and a lock. Every change is made
 * under the lock and written beside the old file first, so that `watch` and `approve` can run at once and a crash leaves
 * the old state or the new one.
 */

import { join } from "node:path";
import { CustosError } from "@custos/core/errors";
import { isId } from "@custos/core/ids";
import { notEnrolled, type PhoneRecord, type PhoneStore } from "@custos/pwa";
import { type AuthenticatorState, SoftwareAuthenticator } from "./authenticator.ts";
import { readRecord, recordText } from "./record_text.ts";

/** What the passkey file holds: the page's origin, which passkeys belong to, and the passkeys. */
interface PasskeyFile {
  origin: string;
  state: AuthenticatorState;
}

/** The folder of one software phone. */
export class FileStore implements PhoneStore<string> {
  readonly #dir: string;
  /** The last step of this process: only one of them waits for the file lock at a time. */
  #last: Promise<unknown> = Promise.resolve();

  /** Makes the folder. Throws `storage` where others can read it. */
  constructor(dir: string) {
    this.#dir = dir;
    Deno.mkdirSync(dir, { recursive: true, mode: 0o700 });
    const mode = (Deno.statSync(dir).mode ?? 0) & 0o077;
    if (mode !== 0) {
      throw new CustosError(
        "storage",
        "The phone's state folder is open to others. Close it: chmod 700 <folder>",
      );
    }
  }

  async daemons(): Promise<string[]> {
    const names: string[] = [];
    for await (const { name } of Deno.readDir(this.#dir)) {
      const id = /^daemon-([a-z2-7]{26})\.json$/.exec(name)?.[1];
      if (id !== undefined) names.push(id);
    }
    return names.sort();
  }

  async read(daemon: string): Promise<PhoneRecord<string> | null> {
    const text = await readIfThere(this.#fileOf(daemon));
    return text === null ? null : readRecord(text);
  }

  create(record: PhoneRecord<string>): Promise<void> {
    return this.#locked(async () => {
      if (await this.read(record.daemon) !== null) {
        throw new CustosError("storage", "This phone is paired with that computer already.");
      }
      await writePrivate(this.#fileOf(record.daemon), recordText(record));
    });
  }

  update<T>(
    daemon: string,
    change: (record: PhoneRecord<string>) => Promise<readonly [PhoneRecord<string>, T]>,
  ): Promise<T> {
    return this.#locked(async () => {
      const before = await this.read(daemon) ?? notEnrolled();
      const [after, value] = await change(before);
      if (after !== before) await writePrivate(this.#fileOf(daemon), recordText(after));
      return value;
    });
  }

  /** The authenticator with the passkeys of this folder, or a new one for the page at `origin`. */
  async authenticator(origin?: string): Promise<SoftwareAuthenticator> {
    const text = await readIfThere(join(this.#dir, "passkeys.json"));
    if (text !== null) {
      const { origin: stored, state } = JSON.parse(text) as PasskeyFile;
      if (origin === undefined || origin === stored) return new SoftwareAuthenticator(stored, state);
      throw new CustosError(
        "no_device",
        "The passkeys in this folder belong to another page. Use another --state.",
      );
    }
    return new SoftwareAuthenticator(origin ?? notEnrolled());
  }

  /** Keeps the passkeys. Call it after `create`; a touch changes nothing. */
  async keepPasskeys(origin: string, authenticator: SoftwareAuthenticator): Promise<void> {
    const file: PasskeyFile = { origin, state: authenticator.exportState() };
    await this.#locked(() => writePrivate(join(this.#dir, "passkeys.json"), JSON.stringify(file)));
  }

  #fileOf(daemon: string): string {
    if (!isId(daemon)) throw new CustosError("bad_request", "This is not the id of a daemon.");
    return join(this.#dir, `daemon-${daemon}.json`);
  }

  #locked<T>(step: () => Promise<T>): Promise<T> {
    const run = this.#last.then(async () => {
      using file = await Deno.open(join(this.#dir, "lock"), { create: true, write: true, mode: 0o600 });
      await file.lock(true);
      return await step(); // closing the file gives the lock back
    });
    this.#last = run.catch(() => {});
    return run;
  }
}

/** Writes a new file and puts it in the old one's place. */
async function writePrivate(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  await Deno.writeTextFile(fresh, text, { mode: 0o600 });
  await Deno.rename(fresh, path);
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
