/** The top of every card: the way back, which computer asks, the time that is left, and the words. */

import type { JSX } from "preact";
import type { CardProps } from "./use_card.ts";
import { left, remainingOf, Words } from "./shown.tsx";

/** Below this many seconds the time left is said aloud once. */
const SOON_S = 60;

/** Which computer, and how long. */
export function CardAside({ model, daemon, card }: CardProps): JSX.Element {
  const { record } = daemon;
  const remaining = remainingOf(record, card.message.doc, model.now.value);
  const soon = remaining < SOON_S * 1_000;
  return (
    <>
      <span class="of">{record.log.state.daemon_name}</span>
      <span role="timer" class={soon ? "time soon" : "time"}>
        {remaining <= 0 ? "time is over" : `${left(remaining)} left`}
      </span>
      {soon && remaining > 0 && <span class="unseen" role="status">Less than a minute is left.</span>}
    </>
  );
}

/** The words. `hidden` leaves out the first one: it is to be picked. */
export function CardWords({ words, hidden = false }: { words: string; hidden?: boolean }): JSX.Element {
  if (hidden) {
    return (
      <h1 class="words" data-testid="words" lang="en">
        <span class="blank" role="img" aria-label="first word not shown">?</span>{" "}
        {words.split(" ").slice(1).join(" ")}
      </h1>
    );
  }
  return (
    <div>
      <Words words={words} />
      <p class="soft">The same three words on the computer?</p>
    </div>
  );
}
