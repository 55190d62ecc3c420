/** Denying a card. It needs no passkey: the channel authenticates it, and a denial opens nothing (DESIGN §6.3). */

import type { Decision } from "@custos/core/messages";
import { decide } from "./outbox.ts";
import type { PhoneParts } from "./phone_parts.ts";

/**
 * Puts a denial into the outbox. It works for every pending card, also for one that cannot be approved. `mute_until_ms`
 * asks the daemon not to ask for this agent until then. Throws where the request is over or unknown.
 */
export async function deny<K>(
  parts: Pick<PhoneParts<K>, "store" | "now">,
  daemon: string,
  request_hash: string,
  mute_until_ms: number | null = null,
): Promise<void> {
  const decision: Decision = { t: "decision", decision: "deny", request_hash, mute_until_ms };
  await parts.store.update(
    daemon,
    (record) => Promise.resolve([decide(record, decision, parts.now()), undefined]),
  );
}
