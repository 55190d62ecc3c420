/** The sign of a log that was checked. The words beside it say what was. */

import type { JSX } from "preact";

/** A shield. */
export function Shield(): JSX.Element {
  return (
    <svg class="shield" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M12 2 4 5v6c0 5 3.4 9.3 8 11 4.6-1.7 8-6 8-11V5z" />
      <path class="tick" d="m8 12 3 3 5-6" />
    </svg>
  );
}
