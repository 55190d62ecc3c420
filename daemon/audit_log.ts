/**
 * The audit log: leaves in the database, their Merkle tree beside it. A leaf is written in the same transaction as what it
 * tells, so there is no decision without its entry and no entry without its decision.
 */

import { setImmediate } from "node:timers";
import { type AuditLeaf, encodeLeaf } from "@custos/core/audit";
import { type Bytes, fromBase64url, toBase64url } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import { logOrigin, signCheckpoint, verifierKey } from "@custos/core/checkpoint";
import { appendLeaf, EMPTY_TREE, leafHash, type MerkleFrontier, treeRoot } from "@custos/core/merkle";
import type { LogHead } from "@custos/core/approval";
import type { Database } from "./database.ts";
import type { Identity } from "./identity.ts";

/** What a leaf says, without version and time, which the log adds. */
export type AuditNote = Omit<AuditLeaf, "v" | "time_ms">;

/** A signed checkpoint with what it covers. */
export interface SignedCheckpoint {
  note: string;
  size: number;
  root: string;
}

/** The audit log of one daemon. */
export class AuditLog {
  readonly #db: Database;
  readonly #identity: Identity;
  #tree: MerkleFrontier = EMPTY_TREE;
  #growing: Promise<unknown> = Promise.resolve();

  private constructor(db: Database, identity: Identity) {
    this.#db = db;
    this.#identity = identity;
  }

  /** Opens the log from its last stored frontier. Throws `storage` where entries are gone that a checkpoint has covered. */
  static open(db: Database, identity: Identity): AuditLog {
    const log = new AuditLog(db, identity);
    const row = db.get("SELECT size, frontier FROM checkpoints ORDER BY size DESC LIMIT 1");
    if (row !== undefined) {
      const roots = (JSON.parse(String(row["frontier"])) as string[]).map((root) => fromBase64url(root)!);
      log.#tree = { size: Number(row["size"]), roots };
      if (log.size < log.#tree.size) { // else new entries would take the places of those that were cut off (B162)
        throw new CustosError(
          "storage",
          "The audit log is shorter than the last checkpoint that was signed. Restore the state from a backup.",
        );
      }
    }
    return log;
  }

  /** Number of entries. */
  get size(): number {
    this.#db.group.flush();
    return Number(this.#db.get("SELECT coalesce(max(seq) + 1, 0) AS n FROM audit")!["n"]);
  }

  /** Adds one entry, in the caller's transaction if there is one. Throws `storage`, and then nothing was recorded. */
  write(note: AuditNote): void {
    const leaf = encodeLeaf({ v: 1, time_ms: Date.now(), ...note });
    this.#db.run(
      "INSERT INTO audit (seq, leaf) VALUES ((SELECT coalesce(max(seq) + 1, 0) FROM audit), ?)",
      leaf,
    );
  }

  /** Entries from index `after` on, at most `limit`. */
  read(after: number, limit: number): { index: number; leaf: Bytes }[] {
    this.#db.group.flush(); // what is told to have happened is in what is read
    const rows = this.#db.all(
      "SELECT seq, leaf FROM audit WHERE seq >= ? ORDER BY seq LIMIT ?",
      after,
      limit,
    );
    return rows.map((row) => ({
      index: Number(row["seq"]),
      leaf: Uint8Array.from(row["leaf"] as Uint8Array),
    }));
  }

  /** Signs the log as it is now and remembers the checkpoint as given out. */
  async checkpoint(): Promise<SignedCheckpoint> {
    const tree = await this.#grow();
    const root = treeRoot(tree);
    const roots = JSON.stringify(tree.roots.map(toBase64url));
    const text = toBase64url(root);
    this.#db.run(
      "INSERT INTO checkpoints (size, root, frontier) VALUES (?, ?, ?) ON CONFLICT (size) DO NOTHING",
      tree.size,
      text,
      roots,
    );
    const identity = this.#identity;
    const checkpoint = { origin: logOrigin(identity.daemon), size: tree.size, root };
    const note = await signCheckpoint(checkpoint, identity.audit_public, (bytes) => identity.sign(bytes));
    return { note, size: tree.size, root: text };
  }

  /** The verifier key of the checkpoints. */
  async key(): Promise<string> {
    return await verifierKey(logOrigin(this.#identity.daemon), this.#identity.audit_public);
  }

  /** Whether a head is one that this log gave out, or the head before any entry was seen. */
  gaveOut(head: LogHead): boolean {
    if (head.head === null) return head.size === 0;
    const row = this.#db.get("SELECT root FROM checkpoints WHERE size = ?", head.size);
    return row?.["root"] === head.head;
  }

  /** Hashes what was added since, with pauses for others; one caller at a time, as each continues from the last. */
  async #grow(): Promise<MerkleFrontier> {
    const run = this.#growing.then(async () => {
      for (;;) {
        const leaves = this.read(this.#tree.size, 1_000);
        let tree = this.#tree;
        for (const { leaf } of leaves) tree = appendLeaf(tree, leafHash(leaf));
        this.#tree = tree;
        if (leaves.length < 1_000) return tree;
        await new Promise((resolve) => setImmediate(resolve)); // a long log must not hold up requests
      }
    });
    this.#growing = run.catch(() => {});
    return await run;
  }
}
