/** A phone's store in memory, for tests and the demo. Records are copied on the way in and out, as a real store does. */

import { CustosError } from "@custos/core/errors";
import { notEnrolled, type PhoneRecord, type PhoneStore } from "@custos/pwa";

/** Records by daemon; one change at a time. */
export class MemoryStore implements PhoneStore<string> {
  readonly #records = new Map<string, PhoneRecord<string>>();
  #last: Promise<unknown> = Promise.resolve();

  daemons(): Promise<string[]> {
    return Promise.resolve([...this.#records.keys()]);
  }

  read(daemon: string): Promise<PhoneRecord<string> | null> {
    const record = this.#records.get(daemon);
    return Promise.resolve(record === undefined ? null : structuredClone(record));
  }

  create(record: PhoneRecord<string>): Promise<void> {
    if (this.#records.has(record.daemon)) {
      return Promise.reject(new CustosError("storage", "This phone is paired with that computer already."));
    }
    this.#records.set(record.daemon, structuredClone(record));
    return Promise.resolve();
  }

  update<T>(
    daemon: string,
    change: (record: PhoneRecord<string>) => Promise<readonly [PhoneRecord<string>, T]>,
  ): Promise<T> {
    const run = this.#last.then(async () => {
      const before = await this.read(daemon) ?? notEnrolled();
      const [after, value] = await change(before);
      if (after !== before) this.#records.set(daemon, structuredClone(after));
      return value;
    });
    this.#last = run.catch(() => {});
    return run;
  }
}
