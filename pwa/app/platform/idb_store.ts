/**
 * The phone's records in IndexedDB. A change runs under a Web Lock, so that tabs and the service worker never draw one
 * sequence twice, and is durable before it counts (DESIGN §7). Storage that was wiped looks like a phone that was never
 * paired, which is what it then is (B126).
 */

import { CustosError } from "@custos/core/errors";
import { notEnrolled, type PhoneRecord, type PhoneStore } from "../../phone_store.ts";

const NAME = "custos";
const RECORDS = "records";
const SETTINGS = "settings";

/** The store of this browser. */
export class IdbStore implements PhoneStore<CryptoKey> {
  #open: Promise<IDBDatabase> | null = null;

  async daemons(): Promise<string[]> {
    return await this.#run("readonly", RECORDS, (store) => store.getAllKeys()) as string[];
  }

  async read(daemon: string): Promise<PhoneRecord<CryptoKey> | null> {
    return await this.#run("readonly", RECORDS, (store) => store.get(daemon)) as PhoneRecord<CryptoKey> ??
      null;
  }

  async create(record: PhoneRecord<CryptoKey>): Promise<void> {
    await locked(record.daemon, async () => {
      if (await this.read(record.daemon) !== null) {
        throw new CustosError("storage", "This phone is paired with that computer already.");
      }
      await this.#run("readwrite", RECORDS, (store) => store.put(record, record.daemon));
    });
  }

  async update<T>(
    daemon: string,
    change: (record: PhoneRecord<CryptoKey>) => Promise<readonly [PhoneRecord<CryptoKey>, T]>,
  ): Promise<T> {
    return await locked(daemon, async () => {
      const before = await this.read(daemon) ?? notEnrolled();
      const [after, value] = await change(before);
      if (after !== before) await this.#run("readwrite", RECORDS, (store) => store.put(after, daemon));
      return value;
    });
  }

  /** Forgets a daemon on this phone. The daemon still lists the device until it is removed there. */
  async forget(daemon: string): Promise<void> {
    await locked(daemon, () => this.#run("readwrite", RECORDS, (store) => store.delete(daemon)));
  }

  /** A setting of this phone, or `undefined`. */
  async setting(name: string): Promise<unknown> {
    return await this.#run("readonly", SETTINGS, (store) => store.get(name));
  }

  /** Stores a setting. */
  async saveSetting(name: string, value: unknown): Promise<void> {
    await this.#run("readwrite", SETTINGS, (store) => store.put(value, name));
  }

  async #run(
    mode: IDBTransactionMode,
    name: string,
    work: (store: IDBObjectStore) => IDBRequest,
  ): Promise<unknown> {
    const database = await this.#database();
    const transaction = database.transaction(name, mode, { durability: "strict" });
    const request = work(transaction.objectStore(name));
    return await new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = transaction.onerror = () => reject(full());
    });
  }

  async #database(): Promise<IDBDatabase> {
    this.#open ??= new Promise((resolve, reject) => {
      const opening = indexedDB.open(NAME, 1);
      opening.onupgradeneeded = () => {
        opening.result.createObjectStore(RECORDS);
        opening.result.createObjectStore(SETTINGS);
      };
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(full());
    });
    try {
      return await this.#open;
    } catch (error) {
      this.#open = null;
      throw error;
    }
  }
}

async function locked<T>(daemon: string, work: () => Promise<T>): Promise<T> {
  return await navigator.locks.request(`custos/${daemon}`, work) as T;
}

function full(): CustosError {
  return new CustosError(
    "storage",
    "This browser did not let custos store anything. Leave the private window, or free some space, and try again.",
  );
}
