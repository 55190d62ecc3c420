/** Notifications: whether this phone is woken when something waits. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Model } from "../model.ts";
import { disablePush, enablePush, PUSH_TEXTS, type PushState, pushState } from "../platform/push.ts";
import { explain } from "../ui/explain.ts";
import { t } from "../ui/language.ts";

/** The part. */
export function Push({ model }: { model: Model }): JSX.Element {
  const [state, setState] = useState<PushState | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const look = () => pushState().then(setState, () => setState("unsupported"));
  useEffect(() => void look(), []);
  const change = async (work: () => Promise<unknown>) => {
    setBusy(true);
    setProblem(null);
    await work().catch((error) => setProblem(explain(error)));
    await look();
    setBusy(false);
  };
  return (
    <section class="sheet">
      <h2>Notifications</h2>
      <p role="status">{state === null ? "Looking…" : PUSH_TEXTS[state]}</p>
      {problem !== null && <p class="warning stop" role="alert">{problem}</p>}
      {state === "off" && (
        <button
          type="button"
          disabled={busy}
          onClick={() => change(() => enablePush(model))}
        >
          {t("Turn on")}
        </button>
      )}
      {state === "on" && (
        <button type="button" disabled={busy} onClick={() => change(disablePush)}>{t("Turn off")}</button>
      )}
    </section>
  );
}
