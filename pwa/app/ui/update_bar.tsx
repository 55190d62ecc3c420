/** Says that a new build waits. The app never changes while it is used, and never by itself. */

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
