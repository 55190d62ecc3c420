/**
 * Says that a new build waits, where no paired screen says it. The app never changes while it is used, and never by
 * itself; a card says nothing of it, because a person is deciding there.
 */

import type { JSX } from "preact";
import { updateReady } from "../updates.ts";

/** The bar, or nothing. */
export function UpdateBar(): JSX.Element | null {
  const apply = updateReady.value;
  if (apply === null) return null;
  return (
    <div class="update-bar" role="status">
      <span>A new version is ready.</span>
      <button type="button" onClick={apply}>Update</button>
    </div>
  );
}
