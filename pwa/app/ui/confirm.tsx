/** A button for what cannot be taken back: the first press says what will happen, the second does it. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { explain } from "./explain.ts";
import { t } from "./language.ts";

/** What the button needs. `said` is what will happen, as a sentence; `done` what has happened. */
export interface ConfirmProps {
  label: string;
  said: string;
  yes: string;
  done?: string;
  onYes: () => Promise<void>;
}

/** The button. */
export function Confirm({ label, said, yes, done, onYes }: ConfirmProps): JSX.Element {
  const [state, setState] = useState<"closed" | "asking" | "working" | "done">("closed");
  const [problem, setProblem] = useState<string | null>(null);
  const act = async () => {
    setState("working");
    setProblem(null);
    try {
      await onYes();
      setState("done");
    } catch (error) {
      setProblem(explain(error));
      setState("asking");
    }
  };
  if (state === "closed" || state === "done") {
    return (
      <>
        {state === "done" && done !== undefined && <p class="done" role="status">{done}</p>}
        <button type="button" class="stop" onClick={() => setState("asking")}>{t(label)}</button>
      </>
    );
  }
  return (
    <div class="asking" role="group" aria-label={label}>
      <p class="warning stop" role="alert">{problem ?? said}</p>
      <div class="pair">
        <button type="button" onClick={() => setState("closed")} disabled={state === "working"}>
          {t("Not now")}
        </button>
        <button type="button" class="stop" onClick={act} disabled={state === "working"}>{t(yes)}</button>
      </div>
    </div>
  );
}
