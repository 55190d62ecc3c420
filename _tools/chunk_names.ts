/**
 * Names for the parts of a split bundle that depend on nothing but what is in them. The bundler's own depend on the folder
 * in which it runs and on where packages are kept, so nobody could build the same app again.
 */
import { createHash } from "node:crypto";

/** What the bundler calls a part: a name, and a hash of its own making. */
const PART = /^(.+)-[A-Z0-9]{8}\.js$/;

/**
 * The files of a bundle, by name, with parts named `<name>-<hash>.js` by their content and, through the names in it, by the
 * content of every part that they load. Parts may load each other in circles.
 */
export function renameChunks(files: ReadonlyMap<string, string>): Map<string, string> {
  const parts = [...files.keys()].filter((name) => PART.test(name));
  if (parts.length === 0) return new Map(files);
  const mention = new RegExp(parts.map((name) => name.replaceAll(".", "\\.")).join("|"), "g");
  let hashes = new Map(parts.map((name) => [name, ""]));
  // Each round carries a difference one import further; after as many rounds as parts it is everywhere.
  for (let round = 0; round <= parts.length; round++) {
    hashes = new Map(parts.map((name) => {
      const text = files.get(name)!.replaceAll(mention, (found) => hashes.get(found)!);
      return [name, hashOf(`${PART.exec(name)![1]} ${text}`)];
    }));
  }
  const names = new Map(
    parts.map((name) => [name, `${PART.exec(name)![1]}-${hashes.get(name)!.slice(0, 8)}.js`]),
  );
  if (new Set(names.values()).size < parts.length) {
    throw new Error("Two parts of the bundle have the same content.");
  }
  return new Map(
    [...files].map(([name, text]) => [
      names.get(name) ?? name,
      text.replaceAll(mention, (found) => names.get(found)!),
    ]),
  );
}

/** In the bundler's letters: capitals and digits. */
function hashOf(text: string): string {
  return BigInt(`0x${createHash("sha256").update(text).digest("hex")}`).toString(36).toUpperCase().padStart(
    50,
    "0",
  );
}
