/** The foot of every card: what stands in the way, in words, and the buttons. It stays in reach whatever is opened above. */

import type { ComponentChildren, JSX } from "preact";
import type { CardVerdict } from "../../card.ts";
import type { StoredCard } from "../../phone_store.ts";

/** What the part needs. */
export interface AnswerProps {
  card: StoredCard;
  verdict: CardVerdict | null;
  problem: string | null;
  /** Whether an answer is on its way: then an older refusal says nothing any more. */
  answered: boolean;
  children: ComponentChildren;
}

/** The foot. */
export function Answer({ card, verdict, problem, answered, children }: AnswerProps): JSX.Element {
  const refused = verdict !== null && !verdict.ok ? `${verdict.message} It can only be denied.` : null;
  const unconfirmed = card.error?.code === "needs_approval" && !answered;
  const text = refused ?? problem ?? (answered || unconfirmed ? null : card.error?.message ?? null);
  return (
    <div class="answer">
      {text !== null && <p class="warning stop" role="alert">{text}</p>}
      {text === null && unconfirmed && (
        <p class="warning" role="alert">
          Not confirmed on the computer yet. Type the first word there, then sign again.
        </p>
      )}
      {children}
    </div>
  );
}
