/** The five fields of a policy, each with one line of help. The drop and the change of a policy share them. */

import type { JSX } from "preact";
import { METHODS, type PolicyRule } from "@custos/core/policy";
import { asksForPrivateNetwork, type FormPart, type PolicyForm } from "../../policy_form.ts";
import { lastingText } from "../../policy_text.ts";

/** Which part of the form a member of it belongs to. */
const PART_OF: Readonly<Record<keyof PolicyForm, FormPart>> = {
  name: "name",
  origins: "origins",
  private_network: "origins",
  place: "place",
  place_name: "place",
  template: "place",
  rules: "rules",
  max_seconds: "grant",
};

/** Problems of the parts that were touched: an empty form does not begin with reproaches. */
export function touchedProblems(
  problems: Partial<Record<FormPart, string>>,
  touched: ReadonlySet<FormPart>,
): Partial<Record<FormPart, string>> {
  return Object.fromEntries(Object.entries(problems).filter(([part]) => touched.has(part as FormPart)));
}

/** The parts that a change touches. */
export function partsOf(change: Partial<PolicyForm>): FormPart[] {
  return Object.keys(change).map((key) => PART_OF[key as keyof PolicyForm]);
}

/** What the part needs. `named` is `false` where the name cannot be changed. */
export interface PolicyFieldsProps {
  form: PolicyForm;
  problems: Partial<Record<FormPart, string>>;
  named: boolean;
  onChange: (part: Partial<PolicyForm>) => void;
}

/** Longest grants to choose from, in seconds. */
const GRANTS = [900, 3_600, 14_400, 28_800, 86_400, 604_800];

/** The fields. */
export function PolicyFields({ form, problems, named, onChange }: PolicyFieldsProps): JSX.Element {
  const grants = GRANTS.includes(form.max_seconds)
    ? GRANTS
    : [...GRANTS, form.max_seconds].sort((a, b) => a - b);
  return (
    <div class="fields">
      {named && (
        <Field id="name" label="Name" help="What agents call it: custos:name." problem={problems.name}>
          <input
            id="name"
            class="mono"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            maxLength={63}
            aria-describedby="name-help"
            value={form.name}
            onInput={({ currentTarget }) =>
              onChange({ name: currentTarget.value.trim() })}
          />
        </Field>
      )}
      <Field
        id="origins"
        label="Goes to"
        help="Hosts that may get it, exactly. One a line."
        problem={problems.origins}
      >
        <textarea
          id="origins"
          class="mono"
          rows={Math.max(1, form.origins.split("\n").length)}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          aria-describedby="origins-help"
          value={form.origins}
          onInput={({ currentTarget }) => onChange({ origins: currentTarget.value })}
        />
      </Field>
      {asksForPrivateNetwork(form.origins) && (
        <label class="check warning">
          <input
            type="checkbox"
            checked={form.private_network}
            onChange={({ currentTarget }) => onChange({ private_network: currentTarget.checked })}
          />
          <span>This host is in your own network, or is not encrypted. Let the secret go there.</span>
        </label>
      )}
      <Place form={form} problem={problems.place} onChange={onChange} />
      <Rules rules={form.rules} problem={problems.rules} onChange={(rules) => onChange({ rules })} />
      <Field
        id="grant"
        label="Longest grant"
        help="How long one approval may last at most."
        problem={problems.grant}
      >
        <select
          id="grant"
          aria-describedby="grant-help"
          value={String(form.max_seconds)}
          onChange={({ currentTarget }) => onChange({ max_seconds: Number(currentTarget.value) })}
        >
          {grants.map((seconds) => (
            <option value={String(seconds)} key={seconds}>{lastingText(seconds)}</option>
          ))}
        </select>
      </Field>
    </div>
  );
}

/** A label, a field, its help, and what is wrong with it. */
export function Field({ id, label, help, problem, children }: {
  id: string;
  label: string;
  help: string;
  problem?: string | undefined;
  children: JSX.Element | (JSX.Element | false)[];
}): JSX.Element {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      <p class="soft" id={`${id}-help`}>{help}</p>
      {problem !== undefined && problem !== "" && <p class="problem" role="status">{problem}</p>}
    </div>
  );
}

const PLACES = [
  ["bearer", "Bearer token", ""],
  ["header", "Header", "Header name"],
  ["basic", "Basic password", "User name"],
  ["query", "In the query", "Name"],
] as const;

function Place({ form, problem, onChange }: {
  form: PolicyForm;
  problem: string | undefined;
  onChange: (part: Partial<PolicyForm>) => void;
}): JSX.Element {
  const asked = PLACES.find(([place]) => place === form.place)![2];
  return (
    <Field
      id="place"
      label="Place"
      help="Where the API expects the key. Most take a Bearer token."
      problem={problem}
    >
      <select
        id="place"
        aria-describedby="place-help"
        value={form.place}
        onChange={({ currentTarget }) =>
          onChange({
            place: currentTarget.value as PolicyForm["place"],
            place_name: "",
            template: "{secret}",
          })}
      >
        {PLACES.map(([place, text]) => <option value={place} key={place}>{text}</option>)}
      </select>
      {asked !== "" && (
        <input
          class="mono"
          aria-label={asked}
          placeholder={asked}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={form.place_name}
          onInput={({ currentTarget }) => onChange({ place_name: currentTarget.value.trim() })}
        />
      )}
      {form.place === "header" && (
        <input
          class="mono"
          aria-label="what the header says; {secret} is the key"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={form.template}
          onInput={({ currentTarget }) => onChange({ template: currentTarget.value })}
        />
      )}
    </Field>
  );
}

function Rules({ rules, problem, onChange }: {
  rules: readonly PolicyRule[];
  problem: string | undefined;
  onChange: (rules: PolicyRule[]) => void;
}): JSX.Element {
  const put = (at: number, rule: PolicyRule) =>
    onChange(rules.map((one, index) => index === at ? rule : one));
  return (
    <fieldset class="field">
      <legend>Rules</legend>
      {rules.map((rule, at) => (
        <div class="rule" key={at}>
          <div class="chips">
            {METHODS.map((method) => (
              <label key={method} class="chip">
                <input
                  type="checkbox"
                  checked={rule.methods.includes(method)}
                  onChange={({ currentTarget }) =>
                    put(at, { ...rule, methods: chosen(rule.methods, method, currentTarget.checked) })}
                />
                {method}
              </label>
            ))}
          </div>
          <div class="beside">
            <input
              class="mono"
              aria-label={`path of rule ${at + 1}`}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              value={rule.path_prefix}
              onInput={({ currentTarget }) => put(at, { ...rule, path_prefix: currentTarget.value.trim() })}
            />
            {rules.length > 1 && (
              <button
                type="button"
                aria-label={`remove rule ${at + 1}`}
                onClick={() => onChange(rules.toSpliced(at, 1))}
              >
                Remove
              </button>
            )}
          </div>
        </div>
      ))}
      <p class="soft">These methods, at this path and below it. Each use is still asked.</p>
      {problem !== undefined && <p class="problem" role="status">{problem}</p>}
      <button
        type="button"
        class="plain"
        onClick={() => onChange([...rules, { methods: ["GET"], path_prefix: "/" }])}
      >
        + Another rule
      </button>
    </fieldset>
  );
}

/** Methods in the order of the table, so that the same choice always reads the same. */
function chosen(methods: readonly string[], method: string, on: boolean): string[] {
  return METHODS.filter((one) => one === method ? on : methods.includes(one));
}
