/**
 * A secret is asked for: paste it, say where it may go, read the sentence, touch once. The agent's suggestions stay the
 * agent's until a person takes them over (DESIGN §6.3).
 */

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { RequestOf } from "@custos/core/request";
import { checkSecretValue } from "@custos/core/secret_value";
import { DROP_BODY_BYTES, type DropFields } from "../../drop.ts";
import { formFor, type FormPart, type PolicyForm, readForm } from "../../policy_form.ts";
import { policySentence } from "../../policy_text.ts";
import { providerOf } from "../../providers.ts";
import { tokenHint } from "../../token_hint.ts";
import { AgentLine } from "../ui/agent_line.tsx";
import { Answer } from "../ui/answer.tsx";
import { CardAside, CardWords } from "../ui/card_head.tsx";
import { explain } from "../ui/explain.ts";
import { Frame } from "../ui/frame.tsx";
import { t } from "../ui/language.ts";
import { AgentText } from "../ui/shown.tsx";
import { type CardProps, isAnswered, useAnswering, useSettled, useVerdict } from "../ui/use_card.ts";
import { WordCheck } from "../ui/word_check.tsx";
import { GoneCard } from "./gone_card.tsx";
import { partsOf, PolicyFields, touchedProblems } from "./policy_fields.tsx";
import { Suggestions } from "./suggestions.tsx";
import { clearValue, ValueField, valueOf } from "./value_field.tsx";

/** First grants to choose from, in seconds; 0 is none. */
const FIRST_GRANTS = [[0, "No, ask for each use"], [900, "Yes, for 15 min"], [
  3_600,
  "Yes, for 1 h",
]] as const;

/** The card of a drop. */
export default function DropScreen(props: CardProps): JSX.Element {
  const { model, daemon, card, onLeave } = props;
  const doc = card.message.doc as RequestOf<"drop">;
  const verdict = useVerdict(props);
  const settled = useSettled();
  const answering = useAnswering(model);
  const [form, setForm] = useState<PolicyForm>(() => formFor(doc.name));
  const [touched, setTouched] = useState<ReadonlySet<FormPart>>(new Set());
  const [first, setFirst] = useState(0);
  const [picked, setPicked] = useState(!model.settings.value.word_check);
  const [notices, setNotices] = useState<string[]>([]);
  const [valued, setValued] = useState<{ problem: string | null; hint: string | null } | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);

  if (card.status !== "pending") return <GoneCard {...props} here={answering.given} notices={notices} />;
  const { busy, problem, run } = answering;
  const answered = isAnswered(props);
  const read = readForm(form);
  const look = (next: PolicyForm = form) => {
    setValued(
      field.current === null || field.current.value === "" ? null : lookAt(field.current.value, next),
    );
  };
  const change = (part: Partial<PolicyForm>) => {
    const next = { ...form, ...part };
    setForm(next);
    setTouched(new Set([...touched, ...partsOf(part)]));
    look(next);
  };
  const store = async () => {
    if (!read.ok || field.current === null) return;
    const fields: DropFields = first === 0 ? read.fields : {
      ...read.fields,
      first_grant_seconds: Math.min(first, read.fields.max_seconds),
    };
    const value = valueOf(field.current);
    const stored = await run("drop", true, async (engine) => {
      const dropped = await engine.drop(daemon.record.daemon, card.request_hash, fields, value);
      setNotices(dropped.notices);
    });
    value.fill(0);
    if (stored && field.current !== null) clearValue(field.current);
  };
  const deny = () =>
    run("deny", true, (engine) => engine.deny(daemon.record.daemon, card.request_hash, null));
  const can = settled && busy === null && !answered && verdict?.ok === true && picked && read.ok &&
    valued !== null && valued.problem === null;
  return (
    <Frame
      name="drop"
      title={`A secret is asked for: ${doc.name}`}
      class="card"
      back={{ label: "Inbox", go: onLeave }}
      aside={<CardAside {...props} />}
    >
      <CardWords words={card.words} hidden={!picked} />
      {!picked && <WordCheck model={model} words={card.words} onRight={() => setPicked(true)} />}
      <h2 class="title">
        Give a secret: <bdi class="mono">{doc.name}</bdi>
      </h2>
      <div>
        <AgentLine agent={doc.agent} />
        <AgentText text={doc.reason} max={200} />
      </div>
      {answered ? <p role="status">Sent. Waiting for the computer…</p> : (
        <>
          <ValueField field={field} onInput={() => look()} />
          {valued?.problem !== undefined && valued.problem !== null && (
            <p class="problem" role="status">{valued.problem}</p>
          )}
          {valued?.hint !== undefined && valued.hint !== null && (
            <p class="warning" role="alert">{valued.hint}</p>
          )}
          <section class="sentence" aria-live="polite" aria-label="what will be signed">
            {read.ok ? <p>{sentenceOf(read.fields)}</p> : <p>Not ready: {Object.values(read.problems)[0]}</p>}
          </section>
          <details class="fold" open={providerOf(doc.name) === null || !read.ok}>
            <summary>Where it may go</summary>
            <Suggestions suggest={doc.suggest} onUse={change} />
            <PolicyFields
              form={form}
              problems={read.ok ? {} : touchedProblems(read.problems, touched)}
              named
              onChange={change}
            />
          </details>
          <div class="field">
            <label for="first">May this agent use it right away?</label>
            <select
              id="first"
              value={String(first)}
              onChange={({ currentTarget }) => setFirst(Number(currentTarget.value))}
            >
              {FIRST_GRANTS.map(([seconds, text]) => (
                <option value={String(seconds)} key={seconds}>{text}</option>
              ))}
            </select>
          </div>
        </>
      )}
      <Answer card={card} verdict={verdict} problem={problem} answered={answered}>
        <div class="actions">
          <button type="button" class="stop" disabled={busy !== null || answered} onClick={deny}>
            {t("Deny")}
          </button>
          <button type="button" class="primary" disabled={!can} onClick={store}>
            {busy === "drop" ? "Touch the passkey…" : answered ? "Sending…" : t("Store it")}
          </button>
        </div>
      </Answer>
    </Frame>
  );
}

/** The sentence of what will be signed. */
function sentenceOf(fields: DropFields): string {
  const { max_seconds, private_network } = fields;
  return policySentence({
    ...fields,
    limits: { max_seconds, private_network, max_body_bytes: DROP_BODY_BYTES },
  });
}

/** What is wrong with a value for its place, and whether it looks like a key for somebody else. */
function lookAt(value: string, form: PolicyForm): { problem: string | null; hint: string | null } {
  const read = readForm(form);
  const placement = read.ok ? read.fields.placement : { kind: "bearer" } as const;
  const hint = read.ok ? tokenHint(value, read.fields.origins) : null;
  try {
    checkSecretValue(new TextEncoder().encode(value), placement).value.fill(0);
    return { problem: null, hint };
  } catch (error) {
    return { problem: explain(error), hint };
  }
}
