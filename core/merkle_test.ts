import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { toHex } from "./bytes.ts";
import { appendLeaf, EMPTY_TREE, leafHash, type MerkleFrontier, treeRoot } from "./merkle.ts";
import { hex } from "./testdata/samples.ts";
import vectors from "./testdata/merkle.json" with { type: "json" };

async function tree(leaves: readonly Uint8Array[]): Promise<MerkleFrontier> {
  let all = EMPTY_TREE;
  for (const leaf of leaves) all = await appendLeaf(all, await leafHash(leaf));
  return all;
}

const sha = (...parts: Uint8Array[]) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return Uint8Array.from(hash.digest());
};

/** RFC 6962 §2.1 as it is written: split at the largest power of two below n. */
function mth(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return sha();
  if (leaves.length === 1) return sha(Uint8Array.of(0), leaves[0]!);
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return sha(Uint8Array.of(1), mth(leaves.slice(0, k)), mth(leaves.slice(k)));
}

for (const [size, root] of vectors.roots.entries()) {
  Deno.test(`treeRoot() gives the root of Certificate Transparency's first ${size} test leaves`, async () => {
    const all = await tree(vectors.leaves.slice(0, size).map(hex));
    assert.equal(toHex(await treeRoot(all)), root);
    assert.equal(all.size, size);
  });
}

Deno.test("treeRoot() agrees with RFC 6962 §2.1 at every size up to 130", async () => {
  const leaves = Array.from({ length: 130 }, (_, i) => Uint8Array.of(i, i * 7));
  let all = EMPTY_TREE;
  for (const [i, leaf] of leaves.entries()) {
    all = await appendLeaf(all, await leafHash(leaf));
    assert.equal(toHex(await treeRoot(all)), toHex(mth(leaves.slice(0, i + 1))), `size ${i + 1}`);
    assert.equal(all.roots.length, [...(i + 1).toString(2)].filter((bit) => bit === "1").length);
  }
});

Deno.test("treeRoot() changes when a leaf is changed, dropped, added or swapped", async () => {
  const leaves = fc.uniqueArray(fc.uint8Array({ maxLength: 4 }), {
    minLength: 2,
    maxLength: 12,
    selector: toHex,
  });
  await fc.assert(
    fc.asyncProperty(leaves, fc.nat(), async (leaves, place) => {
      const i = place % (leaves.length - 1);
      const root = async (of: readonly Uint8Array[]) => toHex(await treeRoot(await tree(of)));
      const swapped = leaves.with(i, leaves[i + 1]!).with(i + 1, leaves[i]!);
      const all = await Promise.all([
        root(leaves),
        root(leaves.with(i, Uint8Array.of(1, 2, 3, 4, 5))),
        root(leaves.toSpliced(i, 1)),
        root(leaves.toSpliced(i, 0, Uint8Array.of(9, 9, 9, 9, 9))),
        root(swapped),
        root([...leaves, leaves.at(-1)!]),
      ]);
      assert.equal(new Set(all).size, all.length);
    }),
    { numRuns: 40 },
  );
});

Deno.test("leafHash() never equals the node of two hashes (second preimage)", async () => {
  const [a, b] = [await leafHash(Uint8Array.of(1)), await leafHash(Uint8Array.of(2))];
  const node = await treeRoot(await tree([Uint8Array.of(1), Uint8Array.of(2)]));
  const joined = Uint8Array.from([...a, ...b]);
  assert.notDeepEqual(await leafHash(joined), node);
  assert.notDeepEqual(await treeRoot(await tree([joined])), node);
});

Deno.test("appendLeaf() does not change the tree that it is given", async () => {
  const before = await tree([Uint8Array.of(1)]);
  const roots = before.roots.map(toHex);
  await appendLeaf(before, await leafHash(Uint8Array.of(2)));
  assert.deepEqual([before.size, before.roots.map(toHex)], [1, roots]);
  assert.deepEqual(EMPTY_TREE, { size: 0, roots: [] });
});
