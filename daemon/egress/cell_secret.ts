/** The only plaintext copy of a secret, inside its cell (DESIGN §12). */

import { equalBytes, fromUtf8, utf8 } from "@custos/core/bytes";
import { openWithFileKey, readSecret } from "@custos/core/custody";
import { CustosError } from "@custos/core/errors";
import { isPlaceableHeader } from "@custos/core/header_rules";
import { type Policy, policyHash } from "@custos/core/policy";
import { checkSecretValue, type PlacedSecret, placeSecret } from "@custos/core/secret_value";
import type { OpenMessage } from "./cell_protocol.ts";
import { FormIndex } from "./form_index.ts";
import { scrubForms } from "./scrub_forms.ts";
import { markerFor } from "./scrubber.ts";

/** An opened secret: how it is sent, and how it is found in what comes back. */
export interface CellSecret {
  policy: Policy;
  placed: PlacedSecret;
  index: FormIndex;
  /** All forms in small letters, for names of headers. */
  folded: FormIndex;
  marker: Uint8Array;
}

/**
 * Opens the age file and compares the policy inside with the one that the daemon checked and the phone signed: an edit on
 * disk can change neither alone (DESIGN §6.1). Throws `bad_request` on a wrong key or file, `storage` where policies
 * differ.
 */
export async function openSecret(message: OpenMessage): Promise<CellSecret> {
  const plaintext = await openWithFileKey(message.age_file, message.file_key);
  message.file_key.fill(0);
  const { policy, value } = readSecret(plaintext);
  plaintext.fill(0);
  const inner = await policyHash(policy);
  if (inner !== message.policy_hash || inner !== await policyHash(message.policy)) {
    throw new CustosError(
      "storage",
      `The policy sealed inside custos:${message.policy.name} is not the one on disk, so the secret was not used.`,
    );
  }
  const checked = checkSecretValue(value, policy.placement);
  const placeable = policy.placement.kind !== "header" || isPlaceableHeader(policy.placement.name);
  if (!equalBytes(checked.value, value) || !placeable) {
    throw new CustosError(
      "bad_request",
      `The value of custos:${policy.name} cannot be sent at its placement.`,
    );
  }
  const forms = scrubForms(value, policy.placement);
  const index = new FormIndex(forms);
  const folded = new FormIndex(forms.map((form) => utf8(fromUtf8(form).toLowerCase())));
  const placed = placeSecret(policy.placement, value);
  value.fill(0);
  return { policy, placed, index, folded, marker: markerFor(policy.name, index) };
}

/** A request's URL and headers with the secret at its place, and nowhere else (B46). */
export function withSecret(
  placed: PlacedSecret,
  target: { url: string; query: string },
  headers: readonly [string, string][],
): { url: string; headers: [string, string][] } {
  if (placed.header !== undefined) return { url: target.url, headers: [...headers, placed.header] };
  return { url: target.url + (target.query === "" ? "?" : "&") + placed.query, headers: [...headers] };
}
