/**
 * The recovery sheet as text that a person can print, read aloud and type: the 32-byte seed and a 24-bit checksum, as 14
 * groups of 4 characters of Crockford's base32 (no I, L, O, U). Of 16 million wrong sheets one goes unnoticed.
 *
 *     56 characters = base32crockford(seed || first 3 bytes of H("custos/recovery-sheet/v1", seed))
 */

import { base32crockford } from "@scure/base";
import { type Bytes, concat, equalBytes, randomBytes } from "./bytes.ts";
import { SEED_BYTES } from "./device_keys.ts";
import { CustosError } from "./errors.ts";
import { labelledHash } from "./labels.ts";
import { Secret } from "./secret.ts";

const GROUP = 4;
const GROUPS = 14;
const CHECKSUM_BYTES = 3;

/** A fresh seed. Made on a phone only (DESIGN §6.2). */
export function newRecoverySeed(): Secret {
  return new Secret(randomBytes(SEED_BYTES));
}

/**
 * The text of a sheet: `XXXX-XXXX-…`, 14 groups. It is the seed itself: show it once, store it nowhere.
 * Throws `bad_request` if the seed does not have 32 bytes.
 */
export async function encodeRecoverySheet(seed: Secret): Promise<string> {
  if (seed.length !== SEED_BYTES) {
    throw new CustosError("bad_request", "A recovery seed has 32 bytes. This one was not printed.");
  }
  const bytes = seed.expose((exposed) => Uint8Array.from(exposed));
  const text = base32crockford.encode(concat(bytes, await checksum(bytes)));
  bytes.fill(0);
  return text.match(new RegExp(`.{${GROUP}}`, "g"))!.join("-");
}

/**
 * The seed of a sheet that somebody typed. Case, spaces, line breaks and hyphens do not matter, and O, I, L are read as
 * 0, 1, 1. Throws `bad_request` with what to look at; the message never repeats what was typed.
 */
export async function decodeRecoverySheet(text: string): Promise<Secret> {
  const typed = text.replace(/[\s-]/g, "");
  const wrong = typed.search(/[^0-9A-TV-Za-tv-z]/); // before any change of case: Unicode turns ß into SS
  if (wrong >= 0) {
    throw refused(
      `Group ${Math.floor(wrong / GROUP) + 1} holds a character that is not used on a recovery sheet.`,
    );
  }
  if (typed.length !== GROUP * GROUPS) {
    throw refused(
      `A recovery sheet has ${GROUPS} groups of ${GROUP} characters; ${typed.length} were typed.`,
    );
  }
  const bytes = Uint8Array.from(base32crockford.decode(typed));
  const seed = bytes.slice(0, SEED_BYTES);
  const matches = equalBytes(bytes.subarray(SEED_BYTES), await checksum(seed));
  bytes.fill(0);
  if (!matches) throw refused("A character is wrong, or two are swapped.");
  return new Secret(seed);
}

async function checksum(seed: Bytes): Promise<Bytes> {
  return (await labelledHash("recovery_sheet", seed)).slice(0, CHECKSUM_BYTES);
}

function refused(why: string): CustosError {
  return new CustosError("bad_request", `${why} Compare each group with the sheet and type it again.`);
}
