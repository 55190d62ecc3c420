/**
 * The state folder: 0700, its files 0600, and the socket in a folder of its own that is 0700 before anything listens in
 * it (B173, B174). A folder that others can enter is reported, never mended in silence.
 */

import { CustosError } from "@custos/core/errors";

/** Makes a folder 0700, or checks that it is one. Throws `storage`. */
export function ensurePrivateFolder(path: string): void {
  try {
    Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw cannot(path, "could not be made");
  }
  const info = statOf(path);
  if (!info.isDirectory) throw cannot(path, "is not a folder");
  if (info.mode !== null && (info.mode & 0o077) !== 0) {
    throw cannot(path, `can be entered by others. Run: chmod 700 ${path}`);
  }
}

/** Makes a file readable by its owner only, if it is there. */
export function makePrivate(path: string): void {
  try {
    Deno.chmodSync(path, 0o600);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw cannot(path, "could not be made private");
  }
}

function statOf(path: string): Deno.FileInfo {
  try {
    return Deno.lstatSync(path);
  } catch {
    throw cannot(path, "cannot be read");
  }
}

function cannot(path: string, why: string): CustosError {
  return new CustosError("storage", `The folder or file ${path} ${why}.`);
}
