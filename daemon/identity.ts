/**
 * Who this daemon is: an id and a name drawn or given at init, the key of the words, and the key that signs checkpoints
 * of the audit log (DESIGN §5.2, §6.5). None of them opens a secret.
 */

import { type Bytes, fromBase64url, randomBytes, toBase64url } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import { WORDS_KEY_BYTES } from "@custos/core/fingerprint";
import { newId } from "@custos/core/ids";
import type { Database } from "./database.ts";

/** The daemon's own identity. */
export interface Identity {
  daemon: string;
  name: string;
  /** `K_words`, 32 bytes. Phones have it too; relay and agents do not. */
  words_key: Bytes;
  /** Raw Ed25519 public key, 32 bytes. */
  audit_public: Bytes;
  /** Signs with the audit key; 64 bytes. */
  sign(bytes: Bytes): Promise<Bytes>;
}

interface Stored {
  daemon: string;
  name: string;
  words_key: string;
  audit_public: string;
  audit_private: string;
}

/**
 * Reads the identity, or draws it where the state is new. A state that holds a policy log but no identity is refused:
 * a new key over old data would make two daemons of one.
 */
export async function loadIdentity(db: Database, name: string): Promise<Identity> {
  const row = db.get("SELECT value FROM meta WHERE key = 'identity'");
  if (row === undefined && db.get("SELECT 1 FROM policy_log LIMIT 1") !== undefined) {
    throw new CustosError("storage", "The state has a policy log but no identity. Restore it from a backup.");
  }
  const stored = row === undefined
    ? await draw(db, name)
    : JSON.parse(new TextDecoder().decode(row["value"] as Uint8Array)) as Stored;
  const pkcs8 = fromBase64url(stored.audit_private);
  const words_key = fromBase64url(stored.words_key);
  const audit_public = fromBase64url(stored.audit_public);
  if (pkcs8 === null || words_key?.length !== WORDS_KEY_BYTES || audit_public?.length !== 32) {
    throw new CustosError("storage", "The daemon's identity is damaged. Restore the state from a backup.");
  }
  const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"]);
  const sign = async (bytes: Bytes) => new Uint8Array(await crypto.subtle.sign("Ed25519", key, bytes));
  return { daemon: stored.daemon, name: stored.name, words_key, audit_public, sign };
}

async function draw(db: Database, name: string): Promise<Stored> {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]) as CryptoKeyPair;
  const stored: Stored = {
    daemon: newId(),
    name,
    words_key: toBase64url(randomBytes(WORDS_KEY_BYTES)),
    audit_public: toBase64url(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey))),
    audit_private: toBase64url(new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey))),
  };
  db.run(
    "INSERT INTO meta (key, value) VALUES ('identity', ?)",
    new TextEncoder().encode(JSON.stringify(stored)),
  );
  return stored;
}
