/** Time that is left, as a ring. The words beside it say the same: a shape alone tells nobody anything. */

import type { JSX } from "preact";

/** Length around a circle of radius 9. */
const AROUND = 56.5;

/** A ring that empties. `part` is what is left of the whole, from 0 to 1. */
export function Ring({ part }: { part: number }): JSX.Element {
  const left = Math.min(1, Math.max(0, part)) * AROUND;
  return (
    <svg class="ring" viewBox="0 0 24 24" aria-hidden="true">
      <circle class="ring-whole" cx="12" cy="12" r="9" />
      <circle
        class="ring-left"
        cx="12"
        cy="12"
        r="9"
        stroke-dasharray={`${left.toFixed(1)} ${AROUND}`}
        transform="rotate(-90 12 12)"
      />
    </svg>
  );
}
