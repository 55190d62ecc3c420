/**
 * Checkpoints of the audit log: C2SP tlog-checkpoint in a C2SP signed-note, with an Ed25519 key. Any tool that reads those
 * formats can check them.
 */

import { type Bytes, concat, equalBytes, fromBase64, toBase64, utf8 } from "./bytes.ts";

/** What a checkpoint says. */
export interface Checkpoint {
  origin: string;
  size: number;
  root: Bytes;
}

/** Signature type of Ed25519 in signed-note. */
const ED25519 = 1;

/** The origin line of a daemon's log. */
export function logOrigin(daemon: string): string {
  return `custos/audit/${daemon}`;
}

/** The verifier key `<name>+<key id>+<base64(type || key)>` of signed-note. */
export async function verifierKey(origin: string, publicKey: Uint8Array): Promise<string> {
  const id = await keyId(origin, publicKey);
  const hex = Array.from(id, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${origin}+${hex}+${toBase64(concat(Uint8Array.of(ED25519), publicKey))}`;
}

/** The signed note of a checkpoint. `sign` makes the 64-byte Ed25519 signature. */
export async function signCheckpoint(
  checkpoint: Checkpoint,
  publicKey: Uint8Array,
  sign: (bytes: Bytes) => Promise<Uint8Array>,
): Promise<string> {
  const body = `${checkpoint.origin}\n${checkpoint.size}\n${toBase64(checkpoint.root)}\n`;
  const signature = concat(await keyId(checkpoint.origin, publicKey), await sign(utf8(body)));
  return `${body}\n— ${checkpoint.origin} ${toBase64(signature)}\n`;
}

/** The checkpoint in a note, or `null` unless it is of this origin and signed with this key (raw, 32 bytes). */
export async function openCheckpoint(
  note: string,
  origin: string,
  publicKey: Uint8Array,
): Promise<Checkpoint | null> {
  const match = /^([^\n]+)\n(0|[1-9][0-9]{0,14})\n([A-Za-z0-9+/]{43}=)\n\n— ([^\n ]+) ([A-Za-z0-9+/=]+)\n$/
    .exec(note);
  if (match === null || match[1] !== origin || match[4] !== origin) return null;
  const root = fromBase64(match[3]!);
  const signed = fromBase64(match[5]!);
  if (root?.length !== 32 || signed?.length !== 68 || publicKey.length !== 32) return null;
  if (!equalBytes(signed.subarray(0, 4), await keyId(origin, publicKey))) return null;
  const body = utf8(`${match[1]}\n${match[2]}\n${match[3]}\n`);
  try {
    const key = await crypto.subtle.importKey("raw", Uint8Array.from(publicKey), "Ed25519", false, [
      "verify",
    ]);
    if (!await crypto.subtle.verify("Ed25519", key, signed.slice(4), body)) return null;
  } catch {
    return null;
  }
  return { origin, size: Number(match[2]), root };
}

async function keyId(origin: string, publicKey: Uint8Array): Promise<Bytes> {
  const input = concat(utf8(origin), Uint8Array.of(0x0a, ED25519), publicKey);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", input)).slice(0, 4);
}
