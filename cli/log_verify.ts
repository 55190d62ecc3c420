/** `custos log verify`: the whole log against the checkpoint that the daemon signed (DESIGN §6.5). */

import { verifyLog } from "@custos/core/audit";
import { fromBase64 } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import { displaySafe } from "@custos/core/display";
import { MAX_LOG_ENTRIES } from "@custos/rpc/limits";
import type { LogReadResult } from "@custos/rpc/log_schemas";
import type { Context } from "./command.ts";
import { count } from "./text.ts";

/** Reads, checks, says what was found. Exit code 0, or 5 where the log does not stand. */
export async function verify({ client, io, json }: Context): Promise<number> {
  const leaves: Uint8Array[] = [];
  let page: LogReadResult;
  do {
    page = await client.call("log.read", { after: leaves.length, limit: MAX_LOG_ENTRIES });
    const before = leaves.length;
    for (const { index, leaf } of page.entries) {
      if (index !== leaves.length) throw broken(`entry ${leaves.length} was not delivered`);
      leaves.push(bytesOf(leaf, index));
    }
    if (leaves.length < page.size && leaves.length === before) throw broken("entries are missing");
  } while (leaves.length < page.size);

  const { origin, publicKey } = readKey(page.key);
  const verdict = await verifyLog(leaves, page.checkpoint, origin, publicKey);
  if (json) await io.out(`${JSON.stringify({ ...verdict, key: page.key })}\n`);
  if (!verdict.ok) {
    const at = verdict.at === null ? "" : ` (entry ${verdict.at})`;
    if (!json) throw broken(`${verdict.why}${at}`);
    io.err(`custos: internal: The log does not stand: ${displaySafe(verdict.why)}${at}.\n`);
    return 5;
  }
  if (!json) {
    const entries = count(verdict.size, "entry", "entries");
    await io.out(`The log stands: ${entries}, signed by ${displaySafe(page.key)}\n`);
  }
  return 0;
}

/** By the engine's own decoder, which is 50 times as fast as one in JavaScript: a log may have 100,000 entries. */
function bytesOf(leaf: string, index: number): Uint8Array {
  try {
    return Uint8Array.fromBase64(leaf, { alphabet: "base64url" });
  } catch {
    throw broken(`entry ${index} is not base64url`);
  }
}

/** Verifier key `<name>+<key id>+<base64(type || key)>` of C2SP signed-note, with an Ed25519 key. */
function readKey(text: string): { origin: string; publicKey: Uint8Array } {
  const match = /^([^\n +]+)\+[0-9a-f]{8}\+([A-Za-z0-9+/=]+)$/.exec(text);
  const bytes = match === null ? null : fromBase64(match[2]!);
  if (match === null || bytes?.length !== 33 || bytes[0] !== 1) throw broken("the log's key cannot be read");
  return { origin: match[1]!, publicKey: bytes.slice(1) };
}

function broken(why: string): CustosError {
  return new CustosError(
    "internal",
    `The log does not stand: ${why}. Trust nothing after the last good checkpoint.`,
  );
}
