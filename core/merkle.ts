/**
 * The Merkle tree of RFC 6962 §2.1 (the same as RFC 9162 §2.1.1) over the audit log, built entry by entry: only the roots
 * of the complete subtrees are kept, so adding to 100,000 entries costs what adding to ten does.
 *
 * SHA-256 is the synchronous one of `@noble/hashes`: WebCrypto's takes about 20 µs a call for the way there and back, ten
 * times as long as hashing an entry, and a log is verified as a whole.
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { type Bytes, concat } from "./bytes.ts";

/** Roots of the complete subtrees from the largest to the smallest, one for each bit of `size`. */
export interface MerkleFrontier {
  size: number;
  roots: readonly Bytes[];
}

/** A tree without entries. */
export const EMPTY_TREE: MerkleFrontier = { size: 0, roots: [] };

/** `SHA-256(0x00 || leaf)`: the prefix keeps a leaf from being taken for a node. */
export function leafHash(leaf: Uint8Array): Bytes {
  return digest(concat(Uint8Array.of(0), leaf));
}

/** The tree with one more leaf, given by its {@link leafHash}. */
export function appendLeaf(tree: MerkleFrontier, leaf: Bytes): MerkleFrontier {
  const roots = [...tree.roots];
  let node = leaf;
  for (let size = tree.size; size % 2 === 1; size = Math.floor(size / 2)) {
    node = nodeHash(roots.pop()!, node);
  }
  return { size: tree.size + 1, roots: [...roots, node] };
}

/** The tree's head. The head of the empty tree is the hash of nothing. */
export function treeRoot(tree: MerkleFrontier): Bytes {
  if (tree.roots.length === 0) return digest(new Uint8Array(0));
  let root = tree.roots.at(-1)!;
  for (let i = tree.roots.length - 2; i >= 0; i--) root = nodeHash(tree.roots[i]!, root);
  return root;
}

function nodeHash(left: Bytes, right: Bytes): Bytes {
  return digest(concat(Uint8Array.of(1), left, right));
}

function digest(bytes: Bytes): Bytes {
  return sha256(bytes) as Bytes;
}
