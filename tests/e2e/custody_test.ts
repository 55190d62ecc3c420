/**
 * Approval is decryption (DESIGN §1, ADR 0007): with no live grant, nothing in the state folder opens a secret, and a
 * grant leaves nothing there that would.
 */

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { base32nopad, bech32 } from "@scure/base";
import { fromBase64url, fromHex, toBase64, toBase64url, toHex } from "@custos/core/bytes";
import { openWithFileKey, openWithIdentity, readSecret, splitHeader } from "@custos/core/custody";
import { deriveRecoveryKeys } from "@custos/core/device_keys";
import { decodeRecoverySheet } from "@custos/core/recovery_sheet";
import { type House, S, SHARED, shareHouse } from "./harness.ts";
import { copyFolder, filesBelow, latin1 } from "./harness_files.ts";
import { approvalOf, fileKeyOf, identityOf } from "./harness_hostile.ts";
import { leaks } from "./harness_leaks.ts";

const house = shareHouse();

/** What a thief of the disk has: the bytes of every file, and every value in the database. */
interface Disk {
  files: Map<string, string>;
  age_file: Uint8Array;
  /** Every value of every table, as bytes: blobs, texts, and what texts hold as base64url, base32, hex or JSON. */
  values: Map<string, Uint8Array<ArrayBuffer>>;
}

/** Copies the state folder as it is, write-ahead log included, and reads the copy. */
async function steal(h: House): Promise<Disk> {
  const copy = await Deno.makeTempDir({ dir: h.folder });
  await copyFolder(h.values.daemon_dir, copy);
  const files = await filesBelow(copy);
  assert.ok([...files.keys()].some((path) => path.endsWith("/custos.db")));
  const db = new DatabaseSync(`${copy}/custos.db`);
  const values: Disk["values"] = new Map();
  const add = (value: unknown): void => {
    if (value instanceof Uint8Array) return void values.set(latin1(value), Uint8Array.from(value));
    if (Array.isArray(value)) return value.forEach(add);
    if (typeof value === "object" && value !== null) return Object.values(value).forEach(add);
    if (typeof value !== "string" || values.has(`text ${value}`)) return;
    values.set(`text ${value}`, new TextEncoder().encode(value));
    add(fromBase64url(value));
    if (/^([0-9a-f]{2})+$/.test(value)) add(fromHex(value));
    if (/^[a-z2-7]{26}$/.test(value)) add(base32nopad.decode(value.toUpperCase()));
    try {
      add(JSON.parse(value));
    } catch {
      // not JSON
    }
  };
  for (const { name } of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()) {
    for (const row of db.prepare(`SELECT * FROM ${name}`).all()) {
      for (const value of Object.values(row)) {
        add(value);
        if (value instanceof Uint8Array) {
          const text = latin1(value);
          if (/^[\x20-\x7e]+$/.test(text)) add(text);
        }
      }
    }
  }
  const age_file = db.prepare("SELECT age_file FROM secrets WHERE name = 'demo-key'").get()!["age_file"];
  db.close();
  await Deno.remove(copy, { recursive: true });
  return { files, age_file: Uint8Array.from(age_file as Uint8Array), values };
}

/** Tries everything that was stolen as a file key, and as the seed of an identity, on these age files. */
async function tryAll(disk: Disk, locked: Uint8Array[]): Promise<{ keys: number; seeds: number }> {
  const tried = { keys: 0, seeds: 0 };
  for (const bytes of disk.values.values()) {
    // The private half of a PKCS#8 key is its last 32 bytes.
    const seed = bytes.length === 48 ? bytes.subarray(16) : bytes;
    for (const file of locked) {
      if (bytes.length === 16) {
        tried.keys++;
        await assert.rejects(openWithFileKey(file, bytes), { kind: "bad_request" });
      }
      if (seed.length === 32) {
        tried.seeds++;
        const identity = bech32.encodeFromBytes("AGE-SECRET-KEY-PQ-", seed).toUpperCase();
        await assert.rejects(openWithIdentity(identity, file), { kind: "bad_request" });
      }
    }
  }
  return tried;
}

/** No file holds the value, the file key in any spelling, or an identity. */
function holdsNothing(disk: Disk, key: Uint8Array<ArrayBuffer>, when: string): void {
  const spellings = [latin1(key), toHex(key), toBase64(key).replace(/=+$/, ""), toBase64url(key)];
  for (const [path, text] of disk.files) {
    assert.deepEqual(leaks(text, S), [], `${when}: ${path}`);
    for (const spelling of spellings) {
      assert.ok(!text.includes(spelling), `${when}: ${path} holds the file key`);
    }
    assert.ok(!/AGE-SECRET-KEY/i.test(text), `${when}: ${path} holds an identity`);
  }
}

Deno.test(
  "with no live grant nothing in the state folder opens a secret, and a grant leaves nothing there",
  SHARED,
  async () => {
    const h = house();
    const asked = await h.ask("/custody", { agent: "custody" });
    const approval = await approvalOf(h, await h.card(asked.id));
    const before = await steal(h);
    const { header } = splitHeader(before.age_file);
    const key = await fileKeyOf(h, header);
    holdsNothing(before, key, "before a grant");

    await h.approve(asked.id, { kind: "path" });
    await h.http("/custody", { agent: "custody" });
    holdsNothing(await steal(h), key, "during a grant"); // it is in memory only
    await h.client.call("grants.revoke", { all: true });
    const after = await steal(h);
    holdsNothing(after, key, "after a grant");
    const sealed = fromBase64url(approval.sealed_key!)!; // what a relay has of it, were the channel broken too
    const tried = await tryAll(after, [after.age_file, sealed]);
    assert.ok(tried.keys >= 8 && tried.seeds >= 8, JSON.stringify(tried));

    await h.daemon.stop();
    const stopped = await steal(h);
    holdsNothing(stopped, key, "after the daemon");
    await tryAll(stopped, [stopped.age_file]);
    await h.startDaemon();
  },
);

Deno.test("a grant that was live when the daemon was killed leaves no key behind", SHARED, async () => {
  const h = house();
  const asked = await h.ask("/custody/killed", { agent: "custody" });
  await h.approve(asked.id, { kind: "path" });
  await h.http("/custody/killed", { agent: "custody" });
  await h.daemon.stop("SIGKILL");
  const disk = await steal(h);
  const key = await fileKeyOf(h, splitHeader(disk.age_file).header);
  holdsNothing(disk, key, "after the kill");
  await tryAll(disk, [disk.age_file]);
  await h.startDaemon();
});

Deno.test(
  "the passkey opens the stored file, and so does the recovery sheet without custos",
  SHARED,
  async () => {
    const h = house();
    const { age_file } = await steal(h);
    const recovery = await deriveRecoveryKeys(await decodeRecoverySheet(h.phone.recoverySheet!));
    const sheet = recovery.identity.expose((bytes) => new TextDecoder().decode(bytes));
    for (const identity of [await identityOf(h), sheet]) {
      const { policy, value } = readSecret(await openWithIdentity(identity, age_file));
      assert.deepEqual([policy.name, new TextDecoder().decode(value)], ["demo-key", S]);
    }
    const key = await fileKeyOf(h, splitHeader(age_file).header);
    assert.equal(new TextDecoder().decode(readSecret(await openWithFileKey(age_file, key)).value), S);
  },
);
