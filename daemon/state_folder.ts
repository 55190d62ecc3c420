/**
 * The state folder: 0700, its files 0600, and the socket in a folder of its own that is 0700 before anything listens in
 * it (B173, B174). A folder that others can enter is reported, never mended in silence.
 */

import { CustosError } from "@custos/core/errors";

/**
 * Makes a folder 0700, or checks that it is one, and that it is of the user whose process this is: a daemon that was once
 * started with `sudo` would leave files that the user's own daemon can't open (B180). Throws `storage`.
 */
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
  const refusal = foreignOwner(info.uid, ownUid(path));
  if (refusal !== null) throw cannot(path, refusal);
}

/** What is wrong where a folder's owner is not the user of this process, or `null`. */
export function foreignOwner(folder: number | null, own: number | null): string | null {
  if (folder === null || own === null || folder === own) return null;
  const who = own === 0 ? "root" : `the user with the number ${own}`;
  return `belongs to the user with the number ${folder}, and this is ${who}. ` +
    "Start custos as the folder's user, without sudo, or use another folder";
}

/** The user of this process, as the owner of a file that it makes: asking the system needs a permission (ADR 0002). */
function ownUid(folder: string): number | null {
  const path = `${folder}/.owner-${crypto.randomUUID()}`;
  try {
    Deno.openSync(path, { createNew: true, write: true, mode: 0o600 }).close();
    return Deno.lstatSync(path).uid;
  } catch {
    throw cannot(folder, "cannot be written to");
  } finally {
    remove(path);
  }
}

function remove(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // it was never made
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
