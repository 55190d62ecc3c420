/** A fresh state for a test: a database in a folder of its own, removed afterwards. */

import { Database } from "../database.ts";
import { type Identity, loadIdentity } from "../identity.ts";

/** A state under test. */
export interface TestState {
  folder: string;
  db: Database;
  identity: Identity;
}

/** Runs `work` with a fresh state. */
export async function withState(work: (state: TestState) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "custos-daemon-" });
  const db = Database.open(`${folder}/state`);
  try {
    await work({ folder: `${folder}/state`, db, identity: await loadIdentity(db, "test computer") });
  } finally {
    db.close();
    await Deno.remove(folder, { recursive: true });
  }
}
