/**
 * The frame of a screen. When a person goes to another screen, focus goes to it, so that a screen reader begins there and
 * the keyboard is not lost on a button that is gone.
 */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { t } from "./language.ts";

/** What a frame needs. `back` is where the button at the top leads. */
export interface FrameProps {
  name: string;
  title: string;
  back?: { label: string; go: () => void } | undefined;
  /** What stands at the right end of the bar. */
  aside?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}

/** Whether a screen was shown before: the first one leaves focus where the browser put it. */
let shown = false;

/** The frame. */
export function Frame({ name, title, back, aside, class: more = "", children }: FrameProps): JSX.Element {
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    document.title = `${title} · custos`;
  }, [title]);
  useEffect(() => {
    if (shown) main.current?.focus({ preventScroll: true });
    shown = true;
  }, [name]);
  return (
    <main ref={main} tabIndex={-1} class={`screen arrives ${more}`} data-testid={name} aria-label={title}>
      {(back !== undefined || aside !== undefined) && (
        <div class="bar">
          {back !== undefined && (
            <button type="button" class="plain back" onClick={back.go}>
              <span aria-hidden="true">‹</span> {t(back.label)}
            </button>
          )}
          {aside}
        </div>
      )}
      {children}
    </main>
  );
}
