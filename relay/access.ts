/** Who may do what with a mailbox: whoever shows the token whose hash the mailbox was made with. Nothing else counts. */

import { hashToken, isMailboxId, isToken } from "@custos/core/relay_wire";
import { Refusal } from "./refusal.ts";
import type { Store } from "./store.ts";

/** The two rights. Reading includes acknowledging, removing and asking for pushes. */
export type Right = "read" | "write";

/**
 * Returns if `authorization` is `Bearer` with the token for `right` on the mailbox `id`. Throws {@link Refusal}:
 * `bad_request` for what is no id, `unauthorized` for no or a wrong token, `unknown_mailbox`. A missing mailbox is told
 * apart from a wrong token so that its owner can make it again (B152); ids are 128 random bits, so nobody learns
 * anything by asking.
 */
export async function requireRight(
  store: Store,
  id: string,
  right: Right,
  authorization: string | undefined,
): Promise<void> {
  requireId(id);
  const token = /^Bearer ([^ ]+)$/i.exec(authorization ?? "")?.[1];
  if (token === undefined || !isToken(token)) throw unauthorized("This needs the mailbox's token.");
  const hash = await hashToken(token);
  const mailbox = await store.mailbox(id);
  if (mailbox === null) throw new Refusal("unknown_mailbox", "There is no such mailbox. Make it again.");
  const expected = right === "read" ? mailbox.read_hash : mailbox.write_hash;
  if (!sameText(hash, expected)) throw unauthorized("This token does not give this right.");
}

/** Throws {@link Refusal} `bad_request` if `id` is not a mailbox id. */
export function requireId(id: string): void {
  if (!isMailboxId(id)) {
    throw new Refusal("bad_request", "A mailbox id is 16 bytes as lower-case base32, 26 characters.");
  }
}

/** Throws {@link Refusal} `invite_required` if the relay has an invite and `given` is not it. */
export async function requireInvite(invite: string | undefined, given: string | undefined): Promise<void> {
  if (invite === undefined) return;
  // hashes have one length, so that comparing does not tell how long the invite is
  if (given !== undefined && sameText(await hashToken(given), await hashToken(invite))) return;
  throw new Refusal("invite_required", "This relay makes mailboxes only for those who have its invite.");
}

/** Whether two texts are equal, in a time that depends on their lengths only. */
export function sameText(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}

function unauthorized(message: string): Refusal {
  return new Refusal("unauthorized", message, { "www-authenticate": "Bearer" });
}
