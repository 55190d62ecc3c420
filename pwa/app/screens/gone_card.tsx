/**
 * A card that has ended: it says why, and offers nothing to press but the way back. Where this screen gave the answer, it
 * also says what became of the request, and goes back by itself.
 */

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { outcome } from "../../audit_text.ts";
import { displayLine } from "@custos/core/display";
import type { PhoneRecord, StoredCard } from "../../phone_store.ts";
import { Frame } from "../ui/frame.tsx";
import { t } from "../ui/language.ts";
import { Words } from "../ui/shown.tsx";
import type { CardProps } from "../ui/use_card.ts";

/** How long the end stays on the screen before the inbox comes back, in milliseconds. */
const STAY_MS = 4_000;
/** How often, and how many times, the log is asked what became of a request. */
const LOOK_MS = 700;
const LOOKS = 8;

/** What became of a card, as a sentence. */
export function endOf(card: StoredCard): string {
  const by = card.by === null ? "" : ` on ${displayLine(card.by, 40)}`;
  switch (card.status) {
    case "granted": {
      const { doc } = card.message;
      if (doc.type !== "policy") return `Approved${by}.`;
      return doc.change.kind === "delete" ? `Deleted${by}.` : `Changed${by}.`;
    }
    case "delivered":
      return `The secret was given${by}.`;
    case "denied":
      return `Denied${by}. Nothing was sent.`;
    case "expired":
      return "Nobody answered in time, so nothing was sent.";
    case "withdrawn":
      if (card.reason === "by_caller") return "The agent took the request back. Nothing was sent.";
      return card.reason === "daemon_restarted" || card.reason === "daemon_stopped"
        ? "custos was stopped on the computer, so the request is gone. Nothing was sent."
        : "The computer no longer asks this. Nothing was sent.";
    case "over":
      return "The computer no longer waits for this. It did not say why.";
    case "pending":
      return "Waiting for your answer.";
  }
}

/** What the log of the computer says about a request that was sent; `null` as long as it says nothing. */
export function sentOf<K>(record: PhoneRecord<K>, request_id: string): string | null {
  const found = record.activity.leaves.findLast(({ leaf }) =>
    leaf?.request_id === request_id &&
    (leaf.event === "send_finished" || leaf.event === "send_failed" || leaf.event === "outcome_unknown")
  )?.leaf;
  if (found === undefined || found === null) return null;
  if (found.event === "send_finished") return `Answered: ${outcome(found)}.`;
  return found.event === "send_failed"
    ? "It could not be sent."
    : "It may have been sent; the answer was lost. It is not sent again by itself.";
}

/** The screen of an ended card. `here`: this screen gave the answer. */
export function GoneCard(props: CardProps & { here?: boolean; notices?: readonly string[] }): JSX.Element {
  const { model, daemon, card, onLeave, here = false, notices = [] } = props;
  const { record } = daemon;
  const good = card.status === "granted" || card.status === "delivered";
  const sends = here && card.status === "granted" && card.message.doc.type === "http";
  const sent = card.message.doc.type === "http" ? sentOf(record, card.message.doc.id) : null;
  useEffect(() => {
    if (!sends || sent !== null) return;
    let looks = 0;
    const timer = setInterval(() => {
      if (++looks > LOOKS) return clearInterval(timer);
      model.engine().then((engine) =>
        engine.send(record.daemon, { t: "activity", from: model.activityFrom(record.daemon) })
      ).catch(() => {});
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [sends, sent === null]);
  useEffect(() => {
    if (!here || (sends && sent === null)) return;
    const timer = setTimeout(onLeave, STAY_MS);
    return () => clearTimeout(timer);
  }, [here, sends, sent]);
  return (
    <Frame name="gone" title="This card has ended" back={{ label: "Inbox", go: onLeave }}>
      <Words words={card.words} />
      <div role="status">
        <p class={good ? "done" : "lead"}>{endOf(card)}</p>
        {sent !== null && <p class="lead">{sent}</p>}
        {sends && sent === null && <p class="soft">Waiting for what the computer says about it…</p>}
        {notices.map((notice) => <p class="soft" key={notice}>{notice}</p>)}
      </div>
      {here && <button type="button" onClick={onLeave}>{t("To the inbox")}</button>}
    </Frame>
  );
}
