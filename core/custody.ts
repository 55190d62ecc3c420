/**
 * A secret at rest: an age file (C2SP age) to post-quantum hybrid recipients, whose plaintext is `JCS{policy, value}`.
 * The policy is inside the ciphertext, so no edit on disk can send a secret elsewhere (DESIGN §6.1).
 *
 * The header is opened on the phone, the body in the egress cell: what travels between them is the 16-byte file key,
 * which opens this one file and nothing else.
 */

import { Decrypter, Encrypter, type Stanza } from "age-encryption";
import { type Bytes, fromBase64url, fromUtf8, toBase64url } from "./bytes.ts";
import { canonicalBytes, parseCanonical } from "./canonical.ts";
import { CustosError } from "./errors.ts";
import { labelledHash } from "./labels.ts";
import { type Policy, readPolicy } from "./policy.ts";
import { base64urlUpTo, decode, type Schema, shape } from "./schema.ts";
import * as z from "zod/mini";

/** Shortest and longest secret, in bytes (DESIGN §6.1). */
export const VALUE_BYTES: { readonly min: number; readonly max: number } = { min: 12, max: 65_536 };
/** Most recipients of one file: 16 devices and the recovery sheet. */
export const MAX_RECIPIENTS = 17;
/** Longest header that is read, in bytes: {@link MAX_RECIPIENTS} stanzas of about 1.6 KB. */
export const MAX_HEADER_BYTES = 32_768;

const STANZA = "mlkem768x25519";
const RECIPIENT_PATTERN = /^age1pq1[02-9ac-hj-np-z]{1900,2000}$/;

/** What an opened secret holds. `value` is the caller's to wipe. */
export interface OpenedSecret {
  policy: Policy;
  value: Bytes;
}

/** Whether `text` has the form of a hybrid recipient. age mixes hybrid and classical recipients silently; custos never. */
export function isHybridRecipient(text: string): boolean {
  return RECIPIENT_PATTERN.test(text);
}

/** Seals bytes to hybrid recipients. Throws `bad_request` on any other kind of recipient, or on none. */
export async function sealTo(recipients: readonly string[], plaintext: Uint8Array): Promise<Bytes> {
  if (recipients.length === 0 || recipients.length > MAX_RECIPIENTS || !recipients.every(isHybridRecipient)) {
    throw new CustosError("bad_request", "Only post-quantum hybrid age recipients (age1pq1…) are sealed to.");
  }
  try {
    const encrypter = new Encrypter();
    for (const recipient of recipients) encrypter.addRecipient(recipient);
    return Uint8Array.from(await encrypter.encrypt(Uint8Array.from(plaintext)));
  } catch { // age's own text repeats the whole recipient
    throw new CustosError(
      "bad_request",
      "A recipient is misspelt (its checksum is wrong); nothing was sealed.",
    );
  }
}

/** Opens an age file with an `AGE-SECRET-KEY-PQ-1…` identity. Throws `bad_request` if it is not for it, or altered. */
export async function openWithIdentity(identity: string, file: Uint8Array): Promise<Bytes> {
  splitHeader(file);
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return await refuseQuietly(() => decrypter.decrypt(Uint8Array.from(file)));
}

/** Seals a secret with its policy. Throws `bad_request` on a value outside {@link VALUE_BYTES} or a bad policy. */
export async function sealSecret(
  recipients: readonly string[],
  policy: Policy,
  value: Uint8Array,
): Promise<Bytes> {
  if (value.length < VALUE_BYTES.min || value.length > VALUE_BYTES.max) {
    throw new CustosError(
      "bad_request",
      "A secret must have 12 to 65,536 bytes; shorter ones cannot be scrubbed.",
    );
  }
  const plaintext = canonicalBytes({ policy: readPolicy(policy), value: toBase64url(value) });
  const file = await sealTo(recipients, plaintext);
  plaintext.fill(0);
  return file;
}

/** What is inside a secret's plaintext. Throws `bad_request` on anything else. */
export function readSecret(plaintext: Uint8Array): OpenedSecret {
  const schema: Schema<{ policy: unknown; value: string }> = shape<{ policy: unknown; value: string }>({
    policy: z.unknown() as unknown as Schema<unknown>,
    value: base64urlUpTo(VALUE_BYTES.max),
  });
  const inner = decode(schema, parseCanonical(plaintext), "sealed secret");
  const value = fromBase64url(inner.value)!;
  if (value.length < VALUE_BYTES.min) {
    throw new CustosError("bad_request", "The sealed secret holds a value that is too short.");
  }
  return { policy: readPolicy(inner.policy), value };
}

/**
 * The header of an age file: its bytes through the newline that ends the `---` line. Throws `bad_request` unless every
 * stanza is `mlkem768x25519`, because age itself would accept a classical stanza beside them.
 */
export function splitHeader(file: Uint8Array): { header: Bytes; body: Bytes; stanzas: number } {
  const end = headerEnd(file);
  const header = Uint8Array.from(file.subarray(0, end));
  let lines: string[];
  try {
    lines = fromUtf8(header).split("\n");
  } catch {
    throw notAge();
  }
  const kinds = lines.filter((line) => line.startsWith("-> ")).map((line) => line.split(" ")[1]);
  if (lines[0] !== "age-encryption.org/v1" || kinds.length === 0 || kinds.length > MAX_RECIPIENTS) {
    throw notAge();
  }
  if (kinds.some((kind) => kind !== STANZA)) {
    throw new CustosError(
      "bad_request",
      "This age file has a recipient that is not post-quantum hybrid; refused.",
    );
  }
  return { header, body: Uint8Array.from(file.subarray(end)), stanzas: kinds.length };
}

/** `H("custos/header/v1", header)` as base64url. */
export async function headerHash(header: Uint8Array): Promise<string> {
  return toBase64url(await labelledHash("header", header));
}

/**
 * The 16-byte file key of a header, opened with an identity. Throws `bad_request` when the header has trailing bytes
 * (age would accept a whole file here), is not for this identity, or fails its MAC.
 */
export async function openHeader(identity: string, header: Uint8Array): Promise<Bytes> {
  if (splitHeader(header).body.length !== 0) throw notAge();
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return await refuseQuietly(() => decrypter.decryptHeader(Uint8Array.from(header)));
}

/** Whether a file key belongs to a header: age checks the header's MAC with it. */
export async function keyOpensHeader(header: Uint8Array, fileKey: Uint8Array): Promise<boolean> {
  if (fileKey.length !== 16) return false;
  const decrypter = new Decrypter();
  decrypter.addIdentity(fixedKey(fileKey));
  try {
    await decrypter.decryptHeader(Uint8Array.from(header));
    return true;
  } catch {
    return false;
  }
}

/** Opens an age file with its file key; the header's MAC and every chunk are checked. Throws `bad_request`. */
export async function openWithFileKey(file: Uint8Array, fileKey: Uint8Array): Promise<Bytes> {
  splitHeader(file);
  const decrypter = new Decrypter();
  decrypter.addIdentity(fixedKey(fileKey));
  return await refuseQuietly(() => decrypter.decrypt(Uint8Array.from(file)));
}

function fixedKey(fileKey: Uint8Array): { unwrapFileKey(stanzas: Stanza[]): Uint8Array } {
  return { unwrapFileKey: () => fileKey };
}

function headerEnd(file: Uint8Array): number {
  const limit = Math.min(file.length, MAX_HEADER_BYTES);
  for (let at = 0; at + 4 <= limit; at++) {
    const startsLine = file[at] === 0x0a && file[at + 1] === 0x2d && file[at + 2] === 0x2d &&
      file[at + 3] === 0x2d;
    if (!startsLine) continue;
    const newline = file.subarray(0, limit).indexOf(0x0a, at + 1);
    if (newline >= 0) return newline + 1;
  }
  throw notAge();
}

function notAge(): CustosError {
  return new CustosError("bad_request", "This is not an age file that custos reads.");
}

/** age's own texts differ by what failed; a caller may know only that it did not open. */
async function refuseQuietly(open: () => Promise<Uint8Array>): Promise<Bytes> {
  try {
    return Uint8Array.from(await open());
  } catch {
    throw new CustosError("bad_request", "This key does not open this file, or the file was altered.");
  }
}
