/**
 * The public age vectors, on the code that phone and daemon run (`core/custody.ts`) and on the library underneath. custos opens
 * fewer files than age: none with a recipient that is not post-quantum hybrid, and none in armour (DESIGN §6.1).
 */

import assert from "node:assert/strict";
import { armor, Decrypter } from "age-encryption";
import { toHex } from "@custos/core/bytes";
import {
  keyOpensHeader,
  openHeader,
  openWithFileKey,
  openWithIdentity,
  splitHeader,
} from "@custos/core/custody";
import { type AgeVector, ageVectors } from "./age_vectors.ts";

const ALL = await ageVectors();
const isHybrid = ({ identities }: AgeVector) =>
  identities.some((key) => key.startsWith("AGE-SECRET-KEY-PQ-1"));

/** Files that age opens, and custos refuses although an identity is hybrid: something else is in the header too. */
const MIXED = new Set(["hybrid_and_x25519", "hybrid_grease", "armor_hybrid"]);

async function sha256(bytes: Uint8Array): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(bytes))));
}

Deno.test("the age vectors are the ones that this test was written for", () => {
  assert.equal(ALL.length, 143);
  assert.equal(ALL.filter(isHybrid).length, 19);
});

for (const vector of ALL.filter(isHybrid)) {
  const opens = vector.expect === "success" && !MIXED.has(vector.name);
  Deno.test(`openWithIdentity() ${opens ? "opens" : "refuses"} the age vector ${vector.name}`, async () => {
    const { file, identities: [identity] } = vector;
    if (!opens) {
      await assert.rejects(openWithIdentity(identity!, file), { kind: "bad_request" });
      return;
    }
    assert.equal(await sha256(await openWithIdentity(identity!, file)), vector.payload);
    const { header } = splitHeader(file);
    const key = await openHeader(identity!, header);
    assert.equal(toHex(key), vector.file_key);
    assert.ok(await keyOpensHeader(header, key));
    assert.equal(await sha256(await openWithFileKey(file, key)), vector.payload);
    await assert.rejects(
      openHeader(identity!, file),
      { kind: "bad_request" },
      "a header, and not a whole file",
    );
  });
}

Deno.test("custody opens none of the age vectors for other kinds of recipients", async () => {
  const [hybrid] = ALL.filter(isHybrid);
  for (const { name, file, identities } of ALL.filter((vector) => !isHybrid(vector))) {
    for (const identity of [...identities, hybrid!.identities[0]!]) {
      await assert.rejects(openWithIdentity(identity, file), { kind: "bad_request" }, name);
    }
    await assert.rejects(openWithFileKey(file, new Uint8Array(16)), { kind: "bad_request" }, name);
  }
});

/** What the library itself says. `null` where it opens nothing. */
async function byLibrary({ file, identities, passphrases, armored }: AgeVector): Promise<string | null> {
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  for (const passphrase of passphrases) decrypter.addPassphrase(passphrase);
  try {
    const bytes = armored ? armor.decode(new TextDecoder().decode(file)) : file;
    return await sha256(await decrypter.decrypt(bytes));
  } catch {
    return null;
  }
}

Deno.test("the age library opens exactly the vectors that age must open, those included that custos refuses", async () => {
  for (const vector of ALL) {
    const expected = vector.expect === "success" ? vector.payload : null;
    assert.equal(await byLibrary(vector), expected, vector.name);
  }
});
