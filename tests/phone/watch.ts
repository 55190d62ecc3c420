/** `phone watch`: every card, and every change of one, until a signal ends it. */

import type { StoredCard } from "@custos/pwa";
import { cardText, jsonLine, showCard } from "./shown_card.ts";
import type { SoftwarePhone } from "./software_phone.ts";
import { note, say } from "./terminal.ts";

/**
 * Prints each pending card once, and again when its status changes: with `json` the same flat object each time. Cards that
 * had ended before are left out. Ends when `signal` does.
 */
export async function watch(
  phone: SoftwarePhone,
  json: boolean,
  signal: AbortSignal,
  print: (line: string) => void = say,
): Promise<void> {
  const printed = new Map<string, string>();
  let locked = false;
  for (const card of await phone.cards()) {
    if (card.status !== "pending") printed.set(card.request_hash, keyOf(card));
  }
  while (!signal.aborted) {
    const record = await phone.record();
    if (record.channel.locked !== null && !locked) {
      locked = true;
      note("Two daemons claim this computer's name. The channel is locked; nothing more will come.");
    }
    const fresh = record.cards.find((card) => printed.get(card.request_hash) !== keyOf(card));
    if (fresh === undefined) {
      await phone.when(async () => signal.aborted || await changed(phone, printed) || null, 1_000);
      continue;
    }
    if (fresh.status === "pending") await phone.verified(fresh); // gives the log's entries a moment to come first
    printed.set(fresh.request_hash, keyOf(fresh));
    const shown = await showCard(await phone.record(), fresh);
    print(json ? jsonLine(shown) : cardText(shown));
  }
}

async function changed(phone: SoftwarePhone, printed: ReadonlyMap<string, string>): Promise<boolean> {
  return (await phone.cards()).some((card) => printed.get(card.request_hash) !== keyOf(card));
}

function keyOf(card: StoredCard): string {
  return `${card.status} ${card.error?.message ?? ""}`;
}
