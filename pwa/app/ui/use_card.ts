/** What every screen of a card does: hold the card against the log, wait a moment, send an answer once. */

import { useEffect, useState } from "preact/hooks";
import type { CardVerdict } from "../../card.ts";
import type { StoredCard } from "../../phone_store.ts";
import type { Engine } from "../engine.ts";
import type { DaemonView, Model } from "../model.ts";
import { explain } from "./explain.ts";

/** What the screens of cards are given. */
export interface CardProps {
  model: Model;
  daemon: DaemonView;
  card: StoredCard;
  onLeave: () => void;
}

/** How long a card must have been on the screen before it can be approved, in milliseconds (DESIGN §13). */
const SETTLE_MS = 500;

/** Whether the card may be approved; `null` while that is looked at. It is looked at again when the log grows. */
export function useVerdict({ model, daemon, card }: CardProps): CardVerdict | null {
  const [verdict, setVerdict] = useState<CardVerdict | null>(null);
  const { daemon: id, log } = daemon.record;
  useEffect(() => {
    let current = true;
    model.engine().then((engine) => engine.verify(id, card)).then((found) => {
      if (current) setVerdict(found);
    }, () => {});
    return () => {
      current = false;
    };
  }, [card.request_hash, log.state.size]);
  return verdict;
}

/** `true` after the first half second: a tap that was meant for what was there before does nothing. */
export function useSettled(): boolean {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), SETTLE_MS);
    return () => clearTimeout(timer);
  }, []);
  return settled;
}

/** An answer on its way. */
export interface Answering {
  /** What is being done now; `null` between. */
  busy: string | null;
  problem: string | null;
  /** Whether this screen has given an answer that counts. */
  given: boolean;
  /** Says what went wrong elsewhere; `null` takes it back. */
  fail: (error: unknown) => void;
  /** Does one thing at a time. `gives` says that it is the answer. Returns whether it went well. */
  run: (what: string, gives: boolean, work: (engine: Engine) => Promise<unknown>) => Promise<boolean>;
}

/** Runs answers, and keeps what went wrong in words. */
export function useAnswering(model: Model): Answering {
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [given, setGiven] = useState(false);
  const run = async (what: string, gives: boolean, work: (engine: Engine) => Promise<unknown>) => {
    setBusy(what);
    setProblem(null);
    try {
      await work(await model.engine());
      if (gives) setGiven(true);
      return true;
    } catch (error) {
      setProblem(explain(error));
      return false;
    } finally {
      setBusy(null);
    }
  };
  const fail = (error: unknown) => setProblem(error === null ? null : explain(error));
  return { busy, problem, given, run, fail };
}

/** Whether an answer to a card waits for the computer. */
export function isAnswered({ daemon, card }: CardProps): boolean {
  return daemon.record.outbox.some(({ message }) =>
    message.t === "decision" && message.request_hash === card.request_hash
  );
}
