/**
 * The card: may this happen? What a person must know is visible without scrolling at 360 × 640. A card is never replaced
 * in place, and Approve does nothing for its first 500 ms on the screen (DESIGN §13).
 */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { CustosError } from "@custos/core/errors";
import type { Offer, ShownOffer } from "../../offers.ts";
import type { CardVerdict } from "../../card.ts";
import type { DaemonView, Model } from "../model.ts";
import type { StoredCard } from "../../phone_store.ts";
import { AgentLine } from "../ui/agent_line.tsx";
import { AgentText, left, Words } from "../ui/shown.tsx";
import { GoneCard } from "./gone_card.tsx";
import { HttpFacts } from "./http_facts.tsx";
import { warningsOf } from "./card_warnings.ts";

/** How long a card must have been on the screen before it can be approved, in milliseconds. */
const SETTLE_MS = 500;

/** What the screen needs. */
export interface CardProps {
  model: Model;
  daemon: DaemonView;
  card: StoredCard;
  onLeave: () => void;
}

/** The card of an access or http request. */
export function CardScreen({ model, daemon, card, onLeave }: CardProps): JSX.Element {
  const { doc } = card.message;
  const [verdict, setVerdict] = useState<CardVerdict | null>(null);
  const [offers, setOffers] = useState<ShownOffer[]>([]);
  const [chosen, setChosen] = useState(0);
  const [settled, setSettled] = useState(false);
  const [busy, setBusy] = useState<"approve" | "deny" | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), SETTLE_MS);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    let current = true;
    model.engine().then(async (engine) => {
      const found = await engine.verify(daemon.record.daemon, card);
      if (!current) return;
      setVerdict(found);
      setOffers(engine.offers(found));
    });
    return () => {
      current = false;
    };
  }, [card.request_hash, daemon.record.log.state.size]);

  if (card.status !== "pending") return <GoneCard card={card} onLeave={onLeave} />;
  const offer = offers[chosen];
  const answer = async (kind: "approve" | "deny", mute = false) => {
    setBusy(kind);
    setProblem(null);
    try {
      const engine = await model.engine();
      const { daemon: id } = daemon.record;
      if (kind === "deny") await engine.deny(id, card.request_hash, mute ? Date.now() + 3_600_000 : null);
      else if (offer !== undefined) await engine.approve(id, card.request_hash, offer.offer);
    } catch (error) {
      setProblem(explain(error));
    } finally {
      setBusy(null);
    }
  };
  const remaining = doc.expires_ms - daemon.record.clock_offset_ms - model.now.value;
  const answered = daemon.record.outbox.some(({ message }) =>
    message.t === "decision" && message.request_hash === card.request_hash
  );
  return (
    <main class="screen arrives" data-testid="card">
      <div class="bar">
        <button class="plain" onClick={onLeave}>‹ Inbox</button>
        <span>{daemon.record.log.state.daemon_name}</span>
        <span role="timer" aria-label="time left">{left(remaining)} left</span>
      </div>
      <div>
        <Words words={card.words} />
        <p class="soft">The same three words on the computer?</p>
      </div>
      {doc.type === "http"
        ? (
          <HttpFacts
            http={doc.http}
            previous={card.message.previous}
            handle={doc.handle}
            policy={card.message.policy}
          />
        )
        : <h1>Use {"handle" in doc ? doc.handle : "a secret"}</h1>}
      <div>
        <AgentLine agent={doc.agent} />
        <AgentText text={doc.reason} />
      </div>
      {warningsOf(daemon.record, card, offer?.offer ?? null).map((warning) => <p class="warning">{warning}
      </p>)}
      {verdict !== null && !verdict.ok && (
        <p class="warning stop" role="alert">{verdict.message} It can only be denied.</p>
      )}
      {problem !== null && <p class="warning stop" role="alert">{problem}</p>}
      {card.error !== null && <p class="warning stop" role="alert">{card.error.message}</p>}
      {offers.length > 0 && <Offers offers={offers} chosen={chosen} onChoose={setChosen} />}
      <div class="actions">
        <button class="stop" disabled={busy !== null || answered} onClick={() => answer("deny")}>Deny</button>
        <button
          class="primary"
          disabled={!settled || busy !== null || answered || verdict?.ok !== true || offer === undefined}
          onClick={() => answer("approve")}
        >
          {busy === "approve" ? "Touch the passkey…" : answered ? "Sending…" : "Approve"}
        </button>
      </div>
      <button class="plain" disabled={busy !== null || answered} onClick={() => answer("deny", true)}>
        Deny and mute this agent for an hour
      </button>
    </main>
  );
}

function Offers(
  { offers, chosen, onChoose }: { offers: ShownOffer[]; chosen: number; onChoose: (index: number) => void },
): JSX.Element {
  return (
    <fieldset class="choices">
      <legend>Allow</legend>
      {offers.map(({ label }, index) => (
        <label>
          <input type="radio" name="offer" checked={index === chosen} onChange={() => onChoose(index)} />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

/** An error in words. A cancelled passkey is not one: the person can touch again (B121). */
export function explain(error: unknown): string {
  if (error instanceof CustosError) return error.message;
  if (error instanceof DOMException && error.name === "NotAllowedError") {
    return "The passkey was not used, so nothing was approved. Try again when you are ready.";
  }
  return "Something went wrong on this phone. Nothing was approved.";
}

/** Whether an offer allows more than this one request. */
export function isWide(offer: Offer | null): boolean {
  return offer !== null && offer.kind !== "once";
}
