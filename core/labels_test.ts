import assert from "node:assert/strict";
import fc from "fast-check";
import { toHex } from "./bytes.ts";
import { deriveKey, type Label, labelledHash, LABELS, sha256 } from "./labels.ts";
import { hex } from "./testdata/samples.ts";
import vectors from "./testdata/hashes.json" with { type: "json" };

for (const { label, text, hash } of vectors.hashes) {
  Deno.test(`labelledHash() gives the vector of the label ${label}`, async () => {
    assert.equal(LABELS[label as Label], text);
    assert.equal(toHex(await labelledHash(label as Label, hex(vectors.bytes))), hash);
  });
}

for (const row of vectors.keys) {
  Deno.test(`deriveKey() gives the vector of the label ${row.label}`, async () => {
    const { label, secret, salt, context, length, key } = row;
    const derived = await deriveKey(label as Label, hex(secret), hex(salt), hex(context), length);
    assert.equal(toHex(derived), key);
  });
}

Deno.test("LABELS has a vector for each label, and no label is another one's beginning", () => {
  assert.deepEqual(vectors.hashes.map(({ label }) => label).sort(), Object.keys(LABELS).sort());
  const texts = Object.values(LABELS);
  for (const text of texts) {
    assert.match(text, /^custos\/[a-z-]+\/v1$/);
    assert.equal(texts.filter((other) => other.startsWith(text)).length, 1, text);
  }
});

Deno.test("labelledHash() changes with the label and with any bit", async () => {
  const names = Object.keys(LABELS) as Label[];
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 64 }), fc.nat(), async (bytes, bit) => {
      const other = Uint8Array.from(bytes);
      other[Math.floor(bit / 8) % other.length]! ^= 1 << (bit % 8);
      const hashes = [
        await labelledHash("request", bytes),
        await labelledHash("approval", bytes),
        await labelledHash("request", other),
        await labelledHash(names[bit % names.length]!, new Uint8Array(0)),
      ];
      assert.equal(new Set(hashes.map(toHex)).size, 4);
    }),
    { numRuns: 50 },
  );
});

Deno.test("deriveKey() changes with each of its inputs", async () => {
  const one = Uint8Array.of(1);
  const base = [one, one, one] as const;
  const keys = [
    await deriveKey("sas", ...base, 32),
    await deriveKey("mailbox", ...base, 32),
    await deriveKey("sas", Uint8Array.of(2), one, one, 32),
    await deriveKey("sas", one, Uint8Array.of(2), one, 32),
    await deriveKey("sas", one, one, Uint8Array.of(2), 32),
  ];
  assert.equal(new Set(keys.map(toHex)).size, keys.length);
});

Deno.test("sha256() is SHA-256 (FIPS 180-4, the example of the empty message)", async () => {
  const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  assert.equal(toHex(await sha256(new Uint8Array(0))), empty);
});
