/** The rules of a secret, to be changed. The computer answers with a card, on which the change is read again and signed. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Policy } from "@custos/core/policy";
import { changedParts, policySentence } from "../../policy_text.ts";
import { formOf, type PolicyForm, readForm } from "../../policy_form.ts";
import type { PolicyEdit } from "../../policy_change.ts";
import type { DaemonView, Model } from "../model.ts";
import { go } from "../route.ts";
import { explain } from "../ui/explain.ts";
import { Frame } from "../ui/frame.tsx";
import { t } from "../ui/language.ts";
import { useChangeCard } from "../ui/use_change.ts";
import { PolicyFields } from "./policy_fields.tsx";

/** What the screen needs. */
export interface EditProps {
  model: Model;
  daemon: DaemonView;
  policy: Policy;
}

/** The screen. */
export default function EditScreen({ model, daemon, policy }: EditProps): JSX.Element {
  const [form, setForm] = useState<PolicyForm>(() => formOf(policy));
  const [failed, setFailed] = useState<string | null>(null);
  const change = useChangeCard(model, daemon, policy.secret_id);
  const read = readForm(form);
  const edit: PolicyEdit | null = !read.ok ? null : {
    origins: read.fields.origins,
    rules: read.fields.rules,
    placement: read.fields.placement,
    limits: {
      max_seconds: read.fields.max_seconds,
      private_network: read.fields.private_network,
      max_body_bytes: policy.limits.max_body_bytes,
    },
  };
  const same = edit !== null && changedParts(policy, { ...edit, name: policy.name }).length === 0;
  const ask = async () => {
    if (edit === null) return;
    setFailed(null);
    const { name } = policy;
    await change.begin(
      (engine) => engine.beginChange(daemon.record.daemon, policy, edit),
      (found) => found.kind === "set" && changedParts(found.policy, { ...edit, name }).length === 0,
    ).catch((error) => setFailed(explain(error)));
  };
  const leave = () => go({ at: "secrets" });
  return (
    <Frame
      name="edit"
      title={`Change custos:${policy.name}`}
      class="card"
      back={{ label: "Secrets", go: leave }}
    >
      <h1>
        Change <span class="mono">custos:{policy.name}</span>
      </h1>
      <section class="sentence" aria-live="polite" aria-label="what will be signed">
        {edit === null
          ? <p>Not ready: {read.ok ? "" : Object.values(read.problems)[0]}</p>
          : <p>{policySentence({ ...edit, name: policy.name })}</p>}
      </section>
      <PolicyFields
        form={form}
        problems={read.ok ? {} : read.problems}
        named={false}
        onChange={(part) => setForm({ ...form, ...part })}
      />
      {(failed ?? change.problem) !== null && (
        <p class="warning stop" role="alert">{failed ?? change.problem}</p>
      )}
      <p class="soft">
        {same ? "Nothing is changed yet." : "Grants that live now end when the change is signed."}
      </p>
      <div class="answer">
        <div class="actions">
          <button type="button" onClick={leave}>{t("Keep it")}</button>
          <button
            type="button"
            class="primary"
            disabled={edit === null || same || change.waiting}
            onClick={ask}
          >
            {change.waiting ? "Waiting for the card…" : t("Ask for the card")}
          </button>
        </div>
      </div>
    </Frame>
  );
}
