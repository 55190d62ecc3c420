/** A change of a secret that was asked for: waits for the computer's card, and opens it. */

import { useEffect, useState } from "preact/hooks";
import { isDecided } from "../../outbox.ts";
import type { Engine } from "../engine.ts";
import type { DaemonView, Model } from "../model.ts";
import { go } from "../route.ts";

/** A change that is waited for. */
export interface ChangeWait {
  waiting: boolean;
  /** Why no card will come, in the computer's words. */
  problem: string | null;
  /** Asks. Throws what asking throws. */
  begin: (ask: (engine: Engine) => Promise<void>) => Promise<void>;
}

/** How long to wait before saying that nothing came, in milliseconds. */
const WAIT_MS = 20_000;

/** Waits for the card of a change of one secret. */
export function useChangeCard(model: Model, { record }: DaemonView, secret_id: string): ChangeWait {
  const [since, setSince] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const found = record.cards.find((card) =>
    card.status === "pending" && card.message.doc.type === "policy" &&
    card.message.doc.secret_id === secret_id &&
    !isDecided(record, card.request_hash)
  );
  const trouble = since !== null && record.trouble !== null && record.trouble.at_ms >= since
    ? record.trouble
    : null;
  useEffect(() => {
    if (since === null) return;
    if (found !== undefined) {
      setSince(null);
      go({ at: "card", daemon: record.daemon, request: found.request_hash });
    } else if (trouble !== null) {
      setSince(null);
      setProblem(trouble.message);
    }
  }, [since, found?.request_hash, trouble?.at_ms]);
  useEffect(() => {
    if (since === null) return;
    const timer = setTimeout(() => {
      setSince(null);
      setProblem("The computer did not answer. Is it on, and is custos running there?");
    }, WAIT_MS);
    return () => clearTimeout(timer);
  }, [since]);
  const begin = async (ask: (engine: Engine) => Promise<void>) => {
    setProblem(null);
    const began = Date.now();
    await ask(await model.engine());
    setSince(began);
  };
  return { waiting: since !== null, problem, begin };
}
