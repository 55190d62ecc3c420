/**
 * The one table of hash and key labels (DESIGN §5.1). Every hash is `SHA-256(label || 0x00 || bytes)`, so no hash of one
 * kind can be taken for another, and no derived key serves two ends. A label is never reused for other bytes.
 */

import { type Bytes, concat, utf8 } from "./bytes.ts";

/** Every label, by the name the code uses. The values are part of the protocol. */
export const LABELS = {
  request: "custos/request/v1",
  words: "custos/words/v1",
  content: "custos/content/v1",
  coalesce: "custos/coalesce/v1",
  policy: "custos/policy/v1",
  header: "custos/header/v1",
  reply_to: "custos/reply-to/v1",
  approval: "custos/approval/v1",
  entry: "custos/entry/v1",
  genesis_prev: "custos/genesis-prev/v1",
  prf: "custos/prf/v1",
  device_seed: "custos/device-seed/v1",
  recovery_age: "custos/recovery-age/v1",
  recovery_sign: "custos/recovery-sign/v1",
  recovery_entry: "custos/recovery-entry/v1",
  commit: "custos/commit/v1",
  pair: "custos/pair/v1",
  pair_recipient: "custos/pair-recipient/v1",
  register: "custos/register/v1",
  repair: "custos/repair/v1",
  rendezvous: "custos/rendezvous/v1",
  sas: "custos/sas/v1",
  channel_root: "custos/channel-root/v1",
  channel_id: "custos/channel-id/v1",
  mailbox: "custos/mailbox/v1",
  handshake: "custos/handshake/v1",
  session: "custos/session/v1",
  traffic: "custos/traffic/v1",
  next_root: "custos/next-root/v1",
  recovery_sheet: "custos/recovery-sheet/v1",
} as const;

/** The name of a label in {@link LABELS}. */
export type Label = keyof typeof LABELS;

/** `SHA-256(label || 0x00 || bytes)`, 32 bytes. */
export async function labelledHash(label: Label, bytes: Uint8Array): Promise<Bytes> {
  const input = concat(utf8(LABELS[label]), Uint8Array.of(0), bytes);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", input));
}

/**
 * HKDF-SHA256 (RFC 5869) with `info = label || 0x00 || context`. `length` in bytes, at most 8,160.
 * `salt` may be empty, which RFC 5869 reads as 32 zero bytes.
 */
export async function deriveKey(
  label: Label,
  secret: Uint8Array,
  salt: Uint8Array,
  context: Uint8Array,
  length: number,
): Promise<Bytes> {
  const key = await crypto.subtle.importKey("raw", Uint8Array.from(secret), "HKDF", false, ["deriveBits"]);
  const info = concat(utf8(LABELS[label]), Uint8Array.of(0), context);
  const params = { name: "HKDF", hash: "SHA-256", salt: Uint8Array.from(salt), info };
  return new Uint8Array(await crypto.subtle.deriveBits(params, key, length * 8));
}

/** Plain SHA-256 as base64url, for bytes whose place already says what they are (a body). */
export async function sha256(bytes: Uint8Array): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(bytes)));
}
