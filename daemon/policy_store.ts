/**
 * The policy log as the daemon keeps it: records as they were signed, the state that they prove, and the ciphertext of
 * each secret. Everything here came through `applyEntry`, the same code that phones run.
 */

import { canonicalBytes, parseCanonical } from "@custos/core/canonical";
import { fromUtf8, utf8 } from "@custos/core/bytes";
import { headerHash, splitHeader } from "@custos/core/custody";
import { CustosError } from "@custos/core/errors";
import { type Policy, policyHash, readPolicy } from "@custos/core/policy";
import { entryHash, type EntryRecord, readEntryRecord } from "@custos/core/policy_entry";
import { applyEntries, emptyLog, type LogState } from "@custos/core/policy_log";
import type { LogHead } from "@custos/core/approval";
import type { Database } from "./database.ts";

/** A secret as the daemon knows it: everything but its value. */
export interface StoredSecret {
  secret_id: string;
  name: string;
  policy: Policy;
  policy_hash: string;
  header_sha256: string;
  age_file: Uint8Array;
}

/** What a decision adds, already checked: entries, and the ciphertext and policy that they register. */
export interface Addition {
  records: readonly EntryRecord[];
  state: LogState;
  secret: { policy: Policy; policy_hash: string; header_sha256: string; age_file: Uint8Array } | null;
  /** Id of the secret that ends; its ciphertext is removed and overwritten. */
  deleted: string | null;
}

/** The store. */
export class PolicyStore {
  readonly #db: Database;
  #state: LogState;
  /** Secrets by name, as they were read; `null` from a change until it is adopted, and then nothing is remembered. */
  #known: Map<string, StoredSecret> | null = new Map();

  private constructor(db: Database, state: LogState) {
    this.#db = db;
    this.#state = state;
  }

  /** Reads the log and verifies every entry and the ciphertexts it names. Throws `storage` where something is not so. */
  static async open(db: Database, daemon: string): Promise<PolicyStore> {
    const records = db.all("SELECT record FROM policy_log ORDER BY seq").map((row) => String(row["record"]));
    let state: LogState;
    try {
      state = await applyEntries(
        emptyLog(daemon),
        records.map((record) => readEntryRecord(parseCanonical(utf8(record)))),
      );
    } catch (error) {
      const why = error instanceof CustosError ? ` ${error.message}` : "";
      throw new CustosError("storage", `The policy log does not verify, so the daemon did not start.${why}`);
    }
    const store = new PolicyStore(db, state);
    const secrets = store.secrets();
    for (const secret of secrets) await store.#check(secret);
    if (secrets.length !== state.secrets.size) {
      throw new CustosError(
        "storage",
        "A secret that the policy log lists is missing. Restore the state from a backup.",
      );
    }
    return store;
  }

  /** What the log says now. */
  get state(): LogState {
    return this.#state;
  }

  /** The head of the log now. */
  get head(): LogHead {
    return { size: this.#state.size, head: this.#state.head };
  }

  /** Whether the log had this head at some time. */
  hadHead(head: LogHead): boolean {
    if (head.size === 0) return head.head === null;
    const row = this.#db.get("SELECT hash FROM policy_log WHERE seq = ?", head.size - 1);
    return row?.["hash"] === head.head;
  }

  /** Records from `from` on, at most `limit`. */
  records(from: number, limit: number): EntryRecord[] {
    const rows = this.#db.all(
      "SELECT record FROM policy_log WHERE seq >= ? ORDER BY seq LIMIT ?",
      from,
      limit,
    );
    return rows.map((row) => JSON.parse(String(row["record"])) as EntryRecord);
  }

  /** All secrets, by name. */
  secrets(): StoredSecret[] {
    return this.#db.all(
      "SELECT s.age_file, p.policy, p.policy_hash, p.header_sha256 FROM secrets s JOIN policies p " +
        "ON p.secret_id = s.secret_id AND p.version = s.version ORDER BY s.name",
    ).map(readStored);
  }

  /** The secret with this name, or `undefined`. */
  byName(name: string): StoredSecret | undefined {
    const known = this.#known?.get(name);
    if (known !== undefined) return known;
    const row = this.#db.get(
      "SELECT s.age_file, p.policy, p.policy_hash, p.header_sha256 FROM secrets s JOIN policies p " +
        "ON p.secret_id = s.secret_id AND p.version = s.version WHERE s.name = ?",
      name,
    );
    if (row === undefined) return undefined;
    const secret = readStored(row);
    this.#known?.set(name, secret);
    return secret;
  }

  /**
   * The name that a drop was given: of the latest policy version whose field 9 is the request's hash (ADR 0005). `null`
   * where no policy came of the request.
   */
  nameByRequest(requestHash: string): string | null {
    const row = this.#db.get(
      "SELECT name FROM policies WHERE request_hash = ? ORDER BY version DESC LIMIT 1",
      requestHash,
    );
    return row === undefined ? null : String(row["name"]);
  }

  /** The state after more entries. Throws `bad_request`; nothing is stored. */
  async preview(records: readonly EntryRecord[]): Promise<LogState> {
    return await applyEntries(this.#state, records);
  }

  /**
   * Stores an addition; in the caller's transaction. Throws `bad_request` if the log moved since it was previewed.
   * {@link adopt} must follow once the transaction is through.
   */
  store(addition: Addition, hashes: readonly string[]): void {
    this.#known = null;
    const first = addition.records[0]?.entry.seq;
    if (first !== undefined && first !== this.#state.size) {
      throw new CustosError(
        "bad_request",
        "The policy log has moved on since this was signed. Approve it again.",
      );
    }
    for (const [i, record] of addition.records.entries()) {
      const text = fromUtf8(canonicalBytes(record));
      this.#db.run(
        "INSERT INTO policy_log (seq, hash, record) VALUES (?, ?, ?)",
        record.entry.seq,
        hashes[i]!,
        text,
      );
    }
    if (addition.deleted !== null) this.#db.run("DELETE FROM secrets WHERE secret_id = ?", addition.deleted);
    if (addition.secret === null) return;
    const { policy, policy_hash, header_sha256, age_file } = addition.secret;
    this.#db.run(
      "INSERT INTO policies (secret_id, version, name, policy, policy_hash, header_sha256, request_hash) " +
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
      policy.secret_id,
      policy.version,
      policy.name,
      fromUtf8(canonicalBytes(policy)),
      policy_hash,
      header_sha256,
      policy.request_hash,
    );
    this.#db.run(
      "INSERT INTO secrets (secret_id, name, version, age_file) VALUES (?, ?, ?, ?) ON CONFLICT (secret_id) DO UPDATE " +
        "SET name = excluded.name, version = excluded.version, age_file = excluded.age_file",
      policy.secret_id,
      policy.name,
      policy.version,
      age_file,
    );
  }

  /** Takes over the state of a stored addition, and lets go of ciphertext that it replaced. */
  adopt(addition: Addition): void {
    this.#state = addition.state;
    this.#known = new Map();
    if (addition.deleted !== null || addition.secret !== null) this.#db.forgetHistory();
  }

  /** The hashes of an addition's entries, for {@link store}. */
  async hashesOf(records: readonly EntryRecord[]): Promise<string[]> {
    return await Promise.all(records.map((record) => entryHash(record.entry)));
  }

  /** A stored secret must be the one that the log names: same policy, same header. */
  async #check(secret: StoredSecret): Promise<void> {
    const listed = this.#state.secrets.get(secret.secret_id);
    const header = await headerHash(splitHeader(secret.age_file).header);
    const same = listed?.policy_hash === secret.policy_hash && listed.header_sha256 === header &&
      header === secret.header_sha256 && await policyHash(secret.policy) === secret.policy_hash;
    if (!same) {
      throw new CustosError(
        "storage",
        `The secret ${secret.name} is not the one that was signed. Restore it from a backup.`,
      );
    }
  }
}

function readStored(row: Record<string, unknown>): StoredSecret {
  const policy = readPolicy(JSON.parse(String(row["policy"])));
  return {
    secret_id: policy.secret_id,
    name: policy.name,
    policy,
    policy_hash: String(row["policy_hash"]),
    header_sha256: String(row["header_sha256"]),
    age_file: row["age_file"] as Uint8Array,
  };
}
