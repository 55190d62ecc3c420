/** The relay's database file: its modes, its settings and its tables. */

import { DatabaseSync } from "node:sqlite";
import { StartError } from "./start_error.ts";

const VERSION = 1;
const LOCKED = 5; // SQLITE_BUSY

const SETTINGS = ["locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL"]
  .map((setting) => `PRAGMA ${setting}`);

/** Triggers keep the counts, so that no code path can forget them. */
const TABLES = `
  CREATE TABLE mailboxes (
    id TEXT PRIMARY KEY,
    read_hash TEXT NOT NULL,
    write_hash TEXT NOT NULL,
    push TEXT,
    last_seq INTEGER NOT NULL,
    messages INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    used_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX mailboxes_by_use ON mailboxes (used_ms);

  CREATE TABLE messages (
    mailbox TEXT NOT NULL,
    seq INTEGER NOT NULL,
    posted_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    data BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX messages_by_seq ON messages (mailbox, seq);
  CREATE INDEX messages_by_expiry ON messages (expires_ms);

  CREATE TABLE totals (mailboxes INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
  INSERT INTO totals VALUES (0, 0);

  CREATE TRIGGER mailbox_added AFTER INSERT ON mailboxes BEGIN
    UPDATE totals SET mailboxes = mailboxes + 1;
  END;
  CREATE TRIGGER mailbox_removed AFTER DELETE ON mailboxes BEGIN
    DELETE FROM messages WHERE mailbox = old.id;
    UPDATE totals SET mailboxes = mailboxes - 1;
  END;
  CREATE TRIGGER message_added AFTER INSERT ON messages BEGIN
    UPDATE mailboxes SET last_seq = new.seq, messages = messages + 1, bytes = bytes + length(new.data)
      WHERE id = new.mailbox;
    UPDATE totals SET bytes = bytes + length(new.data);
  END;
  CREATE TRIGGER message_removed AFTER DELETE ON messages BEGIN
    UPDATE mailboxes SET messages = messages - 1, bytes = bytes - length(old.data) WHERE id = old.mailbox;
    UPDATE totals SET bytes = bytes - length(old.data);
  END;

  PRAGMA user_version = ${VERSION};
`;

/**
 * Opens `relay.db` in `folder`, making both where they are absent. Throws {@link StartError} with a reason.
 *
 * The folder must be the owner's alone (0700) and files are made 0600 before SQLite opens them, because it takes the mode
 * of its side files from the main one (B173). The lock is exclusive: a second relay on the same folder would not wake
 * the readers of the first.
 */
export function openDatabase(folder: string): DatabaseSync {
  privateFolder(folder);
  const path = `${folder}/relay.db`;
  let db: DatabaseSync | undefined;
  try {
    Deno.openSync(path, { create: true, write: true, mode: 0o600 }).close();
    Deno.chmodSync(path, 0o600);
    db = new DatabaseSync(path, { timeout: 1000 });
    for (const setting of SETTINGS) db.prepare(setting).get(); // errors of `exec` have no code
    migrate(db, folder);
    return db;
  } catch (error) {
    db?.close();
    if (error instanceof StartError) throw error;
    const busy = (error as { errcode?: number }).errcode === LOCKED;
    throw new StartError("storage", busy ? `Another relay uses ${folder}.` : unusable(folder, error));
  }
}

function privateFolder(folder: string): void {
  let mode: number | null;
  try {
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    mode = Deno.statSync(folder).mode;
  } catch (error) {
    throw new StartError("storage", `The folder ${folder} cannot be used (${nameOf(error)}).`);
  }
  if (mode !== null && (mode & 0o077) !== 0) {
    throw new StartError("storage", `Others can open ${folder}. Run: chmod 700 ${folder}`);
  }
}

function migrate(db: DatabaseSync, folder: string): void {
  db.prepare("BEGIN IMMEDIATE").run();
  const version = db.prepare("PRAGMA user_version").get()?.["user_version"];
  if (version === 0) db.exec(TABLES);
  db.exec("COMMIT");
  if (version !== 0 && version !== VERSION) {
    throw new StartError("storage", `The database in ${folder} was made by another version of the relay.`);
  }
}

function unusable(folder: string, error: unknown): string {
  return `The database in ${folder} cannot be used (${nameOf(error)}). If it is damaged, move it away: ` +
    "daemons and phones make their mailboxes again by themselves.";
}

function nameOf(error: unknown): string {
  const { errstr, name } = error as { errstr?: string; name?: string };
  return errstr ?? name ?? "unknown error";
}
