/** A change of a secret that was asked for: waits for the computer's card, and opens it. */

import { useEffect, useState } from "preact/hooks";
import type { PolicyChange } from "@custos/core/policy_change";
import { isDecided } from "../../outbox.ts";
import type { Engine } from "../engine.ts";
import type { DaemonView, Model } from "../model.ts";
import { go } from "../route.ts";

/** A change that is waited for. */
export interface ChangeWait {
  waiting: boolean;
  /** Why no card will come, in the computer's words. */
  problem: string | null;
  /** Asks. `isIt` knows the card of this very change, among others that may wait. Throws what asking throws. */
  begin: (ask: (engine: Engine) => Promise<void>, isIt: (change: PolicyChange) => boolean) => Promise<void>;
}

interface Asked {
  since: number;
  isIt: (change: PolicyChange) => boolean;
}

/** How long to wait before saying that nothing came, in milliseconds. */
const WAIT_MS = 20_000;

/** Waits for the card of a change of one secret. */
export function useChangeCard(model: Model, { record }: DaemonView, secret_id: string): ChangeWait {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const found = asked === null ? undefined : record.cards.find((card) => {
    const { doc } = card.message;
    return card.status === "pending" && doc.type === "policy" && doc.secret_id === secret_id &&
      !isDecided(record, card.request_hash) && asked.isIt(doc.change);
  });
  const { trouble } = record;
  const refused = asked !== null && trouble !== null && trouble.at_ms >= asked.since ? trouble : null;
  useEffect(() => {
    if (found !== undefined) {
      setAsked(null);
      go({ at: "card", daemon: record.daemon, request: found.request_hash });
    } else if (refused !== null) {
      setAsked(null);
      setProblem(refused.message);
    }
  }, [found?.request_hash, refused?.at_ms]);
  useEffect(() => {
    if (asked === null) return;
    const timer = setTimeout(() => {
      setAsked(null);
      setProblem("The computer did not answer. Is it on, and is custos running there?");
    }, WAIT_MS);
    return () => clearTimeout(timer);
  }, [asked]);
  const begin: ChangeWait["begin"] = async (ask, isIt) => {
    setProblem(null);
    const since = Date.now();
    await ask(await model.engine());
    setAsked({ since, isIt });
  };
  return { waiting: asked !== null, problem, begin };
}
