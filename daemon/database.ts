/**
 * The daemon's one database: SQLite in WAL mode with `synchronous=FULL`, held under an exclusive lock for as long as the
 * daemon runs, so that a second daemon on the same state cannot start (ADR 0003). Every write is in a transaction; one
 * that fails is `storage`, and what could not be recorded does not happen.
 */

import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { CustosError } from "@custos/core/errors";
import { ensurePrivateFolder, makePrivate } from "./state_folder.ts";
import { SCHEMA, SCHEMA_VERSION } from "./database_schema.ts";
import { GroupCommit } from "./group_commit.ts";

/** A row as SQLite returns it. */
export type Row = Record<string, null | number | bigint | string | Uint8Array>;

/** What SQLite takes. */
export type Value = SQLInputValue;

/** The database. All methods are synchronous: a transaction can never interleave with another. */
export class Database {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, ReturnType<DatabaseSync["prepare"]>>();
  #depth = 0;
  /** Writes that may wait for others and share their transaction. */
  readonly group: GroupCommit = new GroupCommit(this);

  private constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Opens `<folder>/custos.db`, makes it if the folder is empty, and takes the lock. Throws `storage`. */
  static open(folder: string): Database {
    ensurePrivateFolder(folder);
    const path = `${folder}/custos.db`;
    const fresh = !exists(path);
    if (fresh) createEmpty(path);
    makePrivate(path); // before WAL starts: the side files take over the mode of the main file (B173)
    let db: DatabaseSync;
    try {
      db = new DatabaseSync(path, { timeout: 0 });
      db.exec(
        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;",
      );
      // whoever commits when the log is full waits until it is written back: seldom, and for pages that changed often once
      db.exec("PRAGMA wal_autocheckpoint=4000");
      db.exec("BEGIN IMMEDIATE; COMMIT;");
    } catch (error) {
      throw openFailure(error, folder);
    }
    const database = new Database(db);
    try {
      database.#prepareSchema();
    } catch (error) {
      db.close();
      throw error instanceof CustosError ? error : openFailure(error, folder);
    }
    return database;
  }

  #prepareSchema(): void {
    const version = Number(this.get("PRAGMA user_version")?.["user_version"] ?? 0);
    if (version > SCHEMA_VERSION) {
      throw new CustosError("storage", "This state was written by a newer custos. Update custos to use it.");
    }
    if (version === 0) {
      this.transaction(() => {
        this.#db.exec(SCHEMA);
        this.#db.exec(`PRAGMA user_version=${SCHEMA_VERSION}`);
      });
    }
    const check = this.get("PRAGMA quick_check(1)")?.["quick_check"];
    if (check !== "ok") {
      throw new CustosError(
        "storage",
        "The database is damaged. Restore it from a backup; nothing was changed in it.",
      );
    }
  }

  /** The first row, or `undefined`. */
  get(sql: string, ...values: Value[]): Row | undefined {
    return this.#run(() => this.#prepare(sql).get(...values) as Row | undefined);
  }

  /** All rows. */
  all(sql: string, ...values: Value[]): Row[] {
    return this.#run(() => this.#prepare(sql).all(...values) as Row[]);
  }

  /** Runs one statement. Returns how many rows it changed. */
  run(sql: string, ...values: Value[]): number {
    return this.#run(() => Number(this.#prepare(sql).run(...values).changes));
  }

  /** Runs `work` whole or not at all. Inside another transaction it is a part of that one. */
  transaction<T>(work: () => T): T {
    if (this.#depth > 0) return work();
    this.run("BEGIN IMMEDIATE");
    this.#depth++;
    try {
      const result = work();
      this.run("COMMIT");
      return result;
    } catch (error) {
      try {
        this.#db.exec("ROLLBACK");
      } catch {
        // SQLite has rolled back by itself; the first error is the one to report
      }
      throw error;
    } finally {
      this.#depth--;
    }
  }

  /** Writes the log into the database and empties it, so that what was overwritten is gone from both files. */
  forgetHistory(): void {
    this.#run(() => this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
  }

  /** Writes what waits, closes the database and gives up the lock. */
  close(): void {
    this.group.flush();
    this.#statements.clear();
    this.#db.close();
  }

  #prepare(sql: string): ReturnType<DatabaseSync["prepare"]> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #run<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof CustosError) throw error;
      const full = /full|disk I\/O/i.test(String(error));
      throw new CustosError(
        "storage",
        full
          ? "The disk of the state folder is full or failing, so nothing was done. Free some space and try again."
          : "The daemon could not read or write its state, so nothing was done. See custos status.",
      );
    }
  }
}

function exists(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile;
  } catch {
    return false;
  }
}

function createEmpty(path: string): void {
  try {
    Deno.openSync(path, { createNew: true, write: true, mode: 0o600 }).close();
  } catch {
    throw new CustosError("storage", `The database ${path} could not be made. Is the folder writable?`);
  }
}

function openFailure(error: unknown, folder: string): CustosError {
  if (/locked|busy/i.test(String(error))) {
    return new CustosError(
      "locked",
      `Another custos daemon is running on ${folder}. Stop it, or use another state folder.`,
    );
  }
  return new CustosError("storage", `The database in ${folder} cannot be opened. Nothing was changed in it.`);
}
