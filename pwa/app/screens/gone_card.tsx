/** A card that has ended: it says why, and offers nothing to press but the way back. */

import type { JSX } from "preact";
import { displayLine } from "@custos/core/display";
import type { StoredCard } from "../../phone_store.ts";
import { Words } from "../ui/shown.tsx";

/** What became of a card, as a sentence. */
export function endOf(card: StoredCard): string {
  const by = card.by === null ? "" : ` on ${displayLine(card.by, 40)}`;
  switch (card.status) {
    case "granted":
      return `Approved${by}.`;
    case "delivered":
      return `The secret was given${by}.`;
    case "denied":
      return `Denied${by}.`;
    case "expired":
      return "Nobody answered in time, so nothing was sent.";
    case "withdrawn":
      return card.reason === "daemon_restarted"
        ? "The computer was restarted, so the request is gone. Nothing was sent."
        : "The agent took the request back. Nothing was sent.";
    case "over":
      return "The computer no longer waits for this. It did not say why.";
    case "pending":
      return "Waiting for your answer.";
  }
}

/** The screen of an ended card. */
export function GoneCard({ card, onLeave }: { card: StoredCard; onLeave: () => void }): JSX.Element {
  const good = card.status === "granted" || card.status === "delivered";
  return (
    <main class="screen arrives" data-testid="gone">
      <div class="bar">
        <button class="plain" onClick={onLeave}>‹ Inbox</button>
      </div>
      <Words words={card.words} />
      <p class={good ? "done" : ""} role="status">{endOf(card)}</p>
    </main>
  );
}
