/**
 * A change of a secret, old beside new in words. A new version takes two taps: the first opens the secret so that this
 * phone can seal it anew, the second signs. What allows more also needs a word typed into the terminal (DESIGN §6.4).
 */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Policy } from "@custos/core/policy";
import type { RequestOf } from "@custos/core/request";
import type { PreparedChange } from "../../policy_change.ts";
import { changedParts, policySentence, wideningText } from "../../policy_text.ts";
import { Answer } from "../ui/answer.tsx";
import { CardAside, CardWords } from "../ui/card_head.tsx";
import { Frame } from "../ui/frame.tsx";
import { t } from "../ui/language.ts";
import { type CardProps, isAnswered, useAnswering, useSettled, useVerdict } from "../ui/use_card.ts";
import { WordCheck } from "../ui/word_check.tsx";
import { GoneCard } from "./gone_card.tsx";

/** The card of a change. */
export default function PolicyCardScreen(props: CardProps): JSX.Element {
  const { model, daemon, card, onLeave } = props;
  const doc = card.message.doc as RequestOf<"policy">;
  const verdict = useVerdict(props);
  const settled = useSettled();
  const answering = useAnswering(model);
  const [prepared, setPrepared] = useState<PreparedChange | null>(null);
  const [picked, setPicked] = useState(!model.settings.value.word_check);

  const moved = prepared !== null && prepared.bundle.log_head.head !== daemon.record.log.state.head;
  useEffect(() => {
    if (moved) setPrepared(null); // the computer's list has changed: what was sealed for it is opened again
  }, [moved]);

  if (card.status !== "pending") return <GoneCard {...props} here={answering.given} />;
  const { busy, problem, run } = answering;
  const answered = isAnswered(props);
  const { daemon: id } = daemon.record;
  const set = doc.change.kind === "set" ? doc.change.policy : null;
  const known = verdict?.ok && verdict.card.type === "policy" ? verdict.card : null;
  const wider = known?.wider ?? [];
  const waits = set !== null && card.age_file === null;
  const open = () =>
    run("open", false, async (engine) => setPrepared(await engine.prepareChange(id, card.request_hash)));
  const sign = () =>
    run("sign", true, async (engine) => {
      await engine.signChange(id, prepared ?? await engine.prepareChange(id, card.request_hash));
    });
  const deny = () => run("deny", true, (engine) => engine.deny(id, card.request_hash, null));
  const opens = set !== null && prepared === null;
  const can = settled && busy === null && !answered && known !== null && picked && !(opens && waits);
  return (
    <Frame
      name="policy-card"
      title={set === null ? `Delete ${doc.handle}` : `Change ${doc.handle}`}
      class="card"
      back={{ label: "Inbox", go: onLeave }}
      aside={<CardAside {...props} />}
    >
      <CardWords words={card.words} hidden={!picked} />
      {!picked && <WordCheck model={model} words={card.words} onRight={() => setPicked(true)} />}
      <h2 class="title">
        {set === null ? "Delete " : "Change "}
        <span class="mono">{doc.handle}</span>
      </h2>
      <p class="soft">This was begun on one of your phones.</p>
      {set === null
        ? (
          <p class="warning stop">
            The secret's file is deleted from the computer, and cannot be brought back. Agents that use it are
            stopped. To make the key itself useless, end it where it was made.
          </p>
        )
        : <Changes old={card.message.policy} next={set} />}
      {wider.length > 0 && (
        <section class="warning" aria-label="this allows more">
          <p>This allows more than before:</p>
          <ul>{wider.map(wideningText).map((text) => <li key={text}>{text}</li>)}</ul>
          <p>First run this on the computer, and type the first word there:</p>
          <p class="mono">custos policy confirm {doc.id}</p>
        </section>
      )}
      {set !== null && (
        <section class="sentence" aria-label="what will be signed">
          <p>{policySentence(set)}</p>
        </section>
      )}
      {set !== null && (
        <p class="soft" role="status">
          {waits
            ? "Waiting for the secret's file…"
            : opens
            ? "First touch: opens the secret on this phone, to seal it with the new rules. Second touch: signs."
            : "Sealed with the new rules. One more touch signs it."}
        </p>
      )}
      <Answer card={card} verdict={verdict} problem={problem} answered={answered}>
        <div class="actions">
          <button type="button" class="stop" disabled={busy !== null || answered} onClick={deny}>
            {t("Deny")}
          </button>
          <button
            type="button"
            class={set === null ? "danger" : "primary"}
            disabled={!can}
            onClick={opens ? open : sign}
          >
            {busy === "open" || busy === "sign"
              ? "Touch the passkey…"
              : answered
              ? "Sending…"
              : set === null
              ? t("Delete")
              : opens
              ? t("1 of 2: Open")
              : t("2 of 2: Sign")}
          </button>
        </div>
      </Answer>
    </Frame>
  );
}

function Changes({ old, next }: { old: Policy | null; next: Policy }): JSX.Element {
  const parts = old === null ? [] : changedParts(old, next);
  return (
    <>
      <table class="changes">
        <thead>
          <tr>
            <th scope="col">
              <span class="unseen">part</span>
            </th>
            <th scope="col">now</th>
            <th scope="col">then</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(({ part, before, after }) => (
            <tr key={part}>
              <th scope="row">{part}</th>
              <td>{before}</td>
              <td>{after}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {parts.length === 0 && <p>Nothing of the rules changes.</p>}
    </>
  );
}
