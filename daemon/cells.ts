/**
 * The egress cells of this run, one for each secret that has a live grant: started when first needed, ended with the last
 * grant, or when idle (the grant keeps the file key, so a cell can start again).
 */

import type { Bytes } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import { Cell } from "./egress/cell.ts";
import type { StoredSecret } from "./policy_store.ts";

/** A cell that nobody used for this long ends, in milliseconds. */
export const IDLE_MS = 300_000;

interface Entry {
  cell: Promise<Cell>;
  policy_hash: string;
  /** Whether the cell stopped by itself. */
  ended: () => boolean;
  in_flight: number;
  last_used_ms: number;
}

/** What a use needs to know while it lasts. */
export interface Lease {
  cell: Cell;
  /** Must be called exactly once, when the use is over. */
  release(): void;
}

/** The pool. `keep` says whether a secret still has a live grant. */
export class Cells {
  readonly #entries = new Map<string, Entry>();
  readonly #keep: (secretId: string) => boolean;
  readonly #lan: boolean;

  constructor(keep: (secretId: string) => boolean, lan: boolean) {
    this.#keep = keep;
    this.#lan = lan;
  }

  /** How many cells run. */
  get size(): number {
    return this.#entries.size;
  }

  /** Lends the cell of a secret; starts and opens it if it does not run. Throws what the cell throws. */
  async acquire(secret: StoredSecret, fileKey: Bytes): Promise<Lease> {
    let entry = this.#entries.get(secret.secret_id);
    if (entry?.ended() === true) {
      this.#entries.delete(secret.secret_id); // its worker stopped with an error; what waited on it has failed
      entry = undefined;
    }
    if (entry !== undefined && entry.policy_hash !== secret.policy_hash) {
      this.terminate(secret.secret_id, "the policy of this secret changed");
      entry = undefined;
    }
    if (entry === undefined) {
      const worker = Cell.start(secret.policy, { lan: this.#lan });
      entry = {
        cell: open(worker, secret, fileKey),
        policy_hash: secret.policy_hash,
        ended: () => worker.ended !== null,
        in_flight: 0,
        last_used_ms: performance.now(),
      };
      this.#entries.set(secret.secret_id, entry);
    }
    entry.in_flight++;
    const held = entry;
    const release = () => {
      held.in_flight--;
      held.last_used_ms = performance.now();
      this.settle(secret.secret_id);
    };
    try {
      return { cell: await held.cell, release };
    } catch (error) {
      if (this.#entries.get(secret.secret_id) === held) this.#entries.delete(secret.secret_id);
      release();
      throw error;
    }
  }

  /** Ends the cell of a secret that has no live grant and nothing in flight. */
  settle(secretId: string): void {
    const entry = this.#entries.get(secretId);
    if (entry === undefined || entry.in_flight > 0 || this.#keep(secretId)) return;
    this.terminate(secretId, "the last grant of this secret ended");
  }

  /** Ends cells that were idle for {@link IDLE_MS}. */
  sweep(): void {
    for (const [secretId, entry] of this.#entries) {
      const idle = entry.in_flight === 0 && performance.now() - entry.last_used_ms > IDLE_MS;
      if (idle) this.terminate(secretId, "it was idle");
    }
  }

  /** Ends a cell now; what it was doing fails. */
  terminate(secretId: string, why: string): void {
    const entry = this.#entries.get(secretId);
    if (entry === undefined) return;
    this.#entries.delete(secretId);
    entry.cell.then((cell) => cell.terminate(ended(why)), () => {});
  }

  /** Ends all cells. Returns how many there were. */
  terminateAll(why: string): number {
    const ids = [...this.#entries.keys()];
    for (const id of ids) this.terminate(id, why);
    return ids.length;
  }
}

async function open(cell: Cell, secret: StoredSecret, fileKey: Bytes): Promise<Cell> {
  const key = fileKey.slice(); // the grant may end, and wipe its key, while the cell starts
  try {
    await cell.open(Uint8Array.from(secret.age_file), key, secret.policy_hash);
    return cell;
  } catch (error) {
    cell.terminate(ended("it could not open its secret"));
    throw error;
  } finally {
    key.fill(0);
  }
}

function ended(why: string): CustosError {
  return new CustosError("locked", `The sandbox of this secret was closed: ${why}.`);
}
