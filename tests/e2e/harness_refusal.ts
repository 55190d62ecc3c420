/** What must be true after an approval that is wrong: it is refused, logged once, and nothing happened. */

import assert from "node:assert/strict";
import type { StoredCard } from "@custos/pwa";
import type { House } from "./harness.ts";
import type { Approval } from "./harness_hostile.ts";

/** How it is refused. */
export interface Refusal {
  /** Part of what the phone is told: an approval is refused for its own fault, and not for another one. */
  says?: string | undefined;
  /** The kind in the audit log. */
  why?: string | undefined;
}

/** Sends a wrong approval of a card and looks at everything that it must not have done. */
export async function refuses(
  h: House,
  card: StoredCard,
  what: string,
  decision: Approval,
  { says = "", why = "bad_request" }: Refusal = {},
): Promise<void> {
  const before = await h.logSize();
  const connections = h.api.connections;
  await h.sendDecision(decision);
  await h.logged("decision_refused", { after: before });
  assert.ok(await h.phone.sync(10_000), "the daemon goes on");
  const events = (await h.log(before)).filter(({ event }) => event !== "card_sent");
  assert.deepEqual(events.map((leaf) => [leaf.event, leaf.why]), [["decision_refused", why]], what);
  const status = await h.client.call("access.status", { request_id: card.message.doc.id });
  assert.deepEqual([status.status, status.grant], ["pending", undefined], what);
  assert.equal(h.api.connections, connections, `${what}: nothing was sent`);
  const told = (await h.card(card.message.doc.id)).error?.message ?? "";
  assert.ok(told.includes(says), `${what}: ${told}`);
}
