/**
 * The card: may this happen? What a person must know is visible without scrolling at 360 × 640. A card is never replaced
 * in place, and Approve does nothing for its first 500 ms on the screen (DESIGN §13).
 */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { PreparedApproval } from "../../approve.ts";
import type { Offer, ShownOffer } from "../../offers.ts";
import { originText } from "../../policy_text.ts";
import { AgentLine } from "../ui/agent_line.tsx";
import { Answer } from "../ui/answer.tsx";
import { CardAside, CardWords } from "../ui/card_head.tsx";
import { Frame } from "../ui/frame.tsx";
import { t } from "../ui/language.ts";
import { Offers } from "../ui/offers.tsx";
import { AgentText, Warnings } from "../ui/shown.tsx";
import { titleOf } from "../ui/title.ts";
import { type CardProps, isAnswered, useAnswering, useSettled, useVerdict } from "../ui/use_card.ts";
import { WordCheck } from "../ui/word_check.tsx";
import { GoneCard } from "./gone_card.tsx";
import { HttpFacts } from "./http_facts.tsx";
import { warningsOf } from "./card_warnings.ts";

/** How long an agent is silent when it is muted with a denial, in milliseconds. */
const MUTE_MS = 3_600_000;

/** Longest reason that is shown at once, in characters: three lines of a narrow phone. */
const REASON_SHOWN = 120;

/** The card of an access or http request. */
export function CardScreen(props: CardProps): JSX.Element {
  const { model, daemon, card, onLeave } = props;
  const { doc } = card.message;
  const verdict = useVerdict(props);
  const settled = useSettled();
  const answering = useAnswering(model);
  const [offers, setOffers] = useState<ShownOffer[]>([]);
  const [asked, setAsked] = useState<Extract<Offer, { kind: "narrow" }> | null>(null);
  const [chosen, setChosen] = useState(0);
  const [prepared, setPrepared] = useState<{ offer: Offer; approval: PreparedApproval } | null>(null);
  const [picked, setPicked] = useState(!model.settings.value.word_check);
  useEffect(() => {
    if (verdict === null) return;
    if (!verdict.ok) return setOffers([]);
    if (offers.length > 0) return; // what a person has narrowed meanwhile stays as it is
    model.engine().then((engine) => {
      const found = engine.offers(verdict);
      setOffers(found);
      setAsked(found.map(({ offer }) => offer).find((offer) => offer.kind === "narrow") ?? null);
    }).catch(answering.fail);
  }, [verdict]);

  const present = offers[chosen]?.offer ?? null;
  useEffect(() => {
    setPrepared(null);
    answering.fail(null);
    if (present === null) return;
    let current = true;
    model.engine().then((engine) => engine.prepare(daemon.record.daemon, card.request_hash, present)).then(
      (approval) => current && setPrepared({ offer: present, approval }),
      (error) => current && answering.fail(error),
    );
    return () => {
      current = false;
    };
  }, [present, verdict]);

  if (card.status !== "pending") return <GoneCard {...props} here={answering.given} />;
  const { busy, problem, run } = answering;
  const offer = offers[chosen];
  const answered = isAnswered(props);
  const { daemon: id } = daemon.record;
  const change = (next: Offer) =>
    verdict !== null &&
    model.engine().then((engine) => setOffers(offers.with(chosen, engine.offer(verdict, next))));
  const deny = (mute: boolean) =>
    run("deny", true, (engine) => engine.deny(id, card.request_hash, mute ? Date.now() + MUTE_MS : null));
  // Only what is on the screen now can be approved: what was made ready for another choice is not it.
  const ready = prepared !== null && prepared.offer === present ? prepared.approval : null;
  const approve = () => ready !== null && run("approve", true, (engine) => engine.approve(id, ready));
  const can = settled && busy === null && !answered && ready !== null && picked;
  return (
    <Frame
      name="card"
      title={picked ? `Card: ${card.words}` : "Card"}
      class="card"
      back={{ label: "Inbox", go: onLeave }}
      aside={<CardAside {...props} />}
    >
      <CardWords words={card.words} hidden={!picked} />
      {!picked && <WordCheck model={model} words={card.words} onRight={() => setPicked(true)} />}
      {doc.type === "http"
        ? (
          <HttpFacts
            http={doc.http}
            previous={card.message.previous}
            handle={doc.handle}
            policy={card.message.policy}
          />
        )
        : <AccessFacts {...props} label={offer?.label ?? null} />}
      <Warnings texts={warningsOf(daemon.record, card, offer?.offer ?? null)} />
      <div>
        <AgentLine agent={doc.agent} />
        <AgentText text={doc.reason} max={REASON_SHOWN} />
      </div>
      <button
        type="button"
        class="plain small"
        disabled={busy !== null || answered}
        onClick={() => deny(true)}
      >
        {t("Deny and mute this agent for an hour")}
      </button>
      <Answer card={card} verdict={verdict} problem={problem} answered={answered}>
        {offers.length > 0 && (
          <Offers
            offers={offers}
            chosen={chosen}
            seconds={card.message.policy?.limits.max_seconds ?? 0}
            asked={asked}
            onChoose={setChosen}
            onChange={change}
          />
        )}
        <div class="actions">
          <button type="button" class="stop" disabled={busy !== null || answered} onClick={() => deny(false)}>
            {t("Deny")}
          </button>
          <button type="button" class="primary" disabled={!can} onClick={approve}>
            {busy === "approve" ? "Touch the passkey…" : answered ? "Sending…" : t("Approve")}
          </button>
        </div>
      </Answer>
    </Frame>
  );
}

/** An access card: no single request, but a span of them. */
function AccessFacts({ card, label }: CardProps & { label: string | null }): JSX.Element {
  const { policy } = card.message;
  return (
    <section class="sheet" aria-label="what is asked">
      <h2 class="title">{titleOf(card)}</h2>
      {label !== null && <p class="mono">{label}</p>}
      {policy !== null && <p class="soft">at {policy.origins.map(originText).join(", ")}</p>}
    </section>
  );
}
