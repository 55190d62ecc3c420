/**
 * The form of a policy: what a person types, and the fields that it becomes, or the reason why not. The drop and the
 * change of a policy share it.
 */

import { isPrivateHost } from "@custos/core/host_scope";
import { newId } from "@custos/core/ids";
import {
  checkOrigin,
  NAME_PATTERN,
  type Placement,
  type Policy,
  type PolicyRule,
  readPolicy,
} from "@custos/core/policy";
import type { DropFields } from "./drop.ts";
import { providerOf } from "./providers.ts";

/** What is typed. */
export interface PolicyForm {
  name: string;
  /** One a line, or with commas or blanks between. */
  origins: string;
  place: Placement["kind"];
  /** Name of the header or query member, or of the user. */
  place_name: string;
  /** Of a header: what stands around the secret. */
  template: string;
  rules: PolicyRule[];
  max_seconds: number;
  private_network: boolean;
}

/** Parts of the form that can be wrong. */
export type FormPart = "name" | "origins" | "place" | "rules" | "grant";

/** The fields, or what is wrong with which part, in words. */
export type FormOutcome =
  | { ok: false; problems: Partial<Record<FormPart, string>> }
  | { ok: true; fields: DropFields };

/** What a rule is where nobody said: the two methods that most APIs need. */
export const FIRST_RULE: PolicyRule = { methods: ["GET", "POST"], path_prefix: "/" };
/** Eight hours: a working day. */
export const FIRST_SECONDS = 28_800;

/** A form filled in from a name. Only our own table gives an origin; the agent's suggestions never do (DESIGN §6.3). */
export function formFor(name: string): PolicyForm {
  const provider = providerOf(name);
  return {
    name,
    origins: provider?.origin ?? "",
    ...placeOf(provider?.placement ?? { kind: "bearer" }),
    rules: [FIRST_RULE],
    max_seconds: FIRST_SECONDS,
    private_network: false,
  };
}

/** A form filled in from a policy in force. */
export function formOf(policy: Policy): PolicyForm {
  const { max_seconds, private_network } = policy.limits;
  const rules = policy.rules.map((rule) => ({ ...rule, methods: [...rule.methods] }));
  const origins = policy.origins.join("\n");
  return { name: policy.name, origins, ...placeOf(policy.placement), rules, max_seconds, private_network };
}

/** The part of a form that says where the secret goes. */
export function placeOf(placement: Placement): Pick<PolicyForm, "place" | "place_name" | "template"> {
  const place = placement.kind;
  switch (placement.kind) {
    case "bearer":
      return { place, place_name: "", template: "{secret}" };
    case "header":
      return { place, place_name: placement.name, template: placement.template };
    case "basic":
      return { place, place_name: placement.username, template: "{secret}" };
    case "query":
      return { place, place_name: placement.name, template: "{secret}" };
  }
}

/** The origins as they would be signed: a bare host means https, and a path is dropped. */
export function originsOf(text: string): string[] {
  const parts = text.split(/[\s,]+/).filter((part) => part !== "");
  return [
    ...new Set(parts.map((part) => {
      const url = part.includes("://") ? part : `https://${part}`;
      if (!URL.canParse(url)) return part;
      const { origin, username, password } = new URL(url);
      return origin === "null" || username !== "" || password !== "" ? part : origin;
    })),
  ];
}

/** Whether the person must decide about the own network: an origin is not encrypted, or is inside by its name. */
export function asksForPrivateNetwork(text: string): boolean {
  return originsOf(text).some((origin) =>
    URL.canParse(origin) && (origin.startsWith("http://") || isPrivateHost(new URL(origin).hostname))
  );
}

/** Reads the form. */
export function readForm(form: PolicyForm): FormOutcome {
  const problems: Partial<Record<FormPart, string>> = {};
  const origins = originsOf(form.origins);
  const inside = asksForPrivateNetwork(form.origins);
  const private_network = form.private_network && inside;
  if (!NAME_PATTERN.test(form.name)) {
    problems.name = "A name begins with a small letter, and has small letters, digits, - and _, at most 63.";
  }
  if (origins.length === 0) {
    problems.origins = "Write the host that may get the secret, for example api.github.com.";
  } else if (inside && !private_network) {
    problems.origins =
      "This host is in your own network, or is not encrypted. Allow that below, or write another.";
  } else {
    const bad = origins.find((origin) => !reads(() => checkOrigin(origin, private_network)));
    if (bad !== undefined) {
      problems.origins = "A host is written as api.github.com or https://host:port, without more.";
    }
  }
  const placement = placementOf(form);
  if (placement === null) problems.place = PLACE_PROBLEMS[form.place];
  if (form.rules.length === 0) problems.rules = "Without a rule nothing is allowed. Add one.";
  if (form.rules.some(({ methods }) => methods.length === 0)) problems.rules = "Choose at least one method.";
  if (form.rules.some(({ path_prefix }) => !path_prefix.startsWith("/"))) {
    problems.rules = "A path begins with a slash, for example /repos/.";
  }
  if (!(form.max_seconds >= 1)) problems.grant = "Choose how long a grant may last.";
  if (Object.keys(problems).length > 0 || placement === null) return { ok: false, problems };
  const { name, rules, max_seconds } = form;
  const fields: DropFields = { name, origins, placement, rules, max_seconds, private_network };
  if (reads(() => readPolicy(policyOf(fields, placement)))) return { ok: true, fields };
  return { ok: false, problems: { ...problems, ...restProblem(fields, placement) } };
}

const PLACE_PROBLEMS: Readonly<Record<Placement["kind"], string>> = {
  bearer: "",
  header: "Write the header's name, and {secret} once in what is sent.",
  basic: "Write the user name, without blanks and colons.",
  query: "Write the name of the query member: letters, digits, dot, - and _.",
};

function placementOf({ place, place_name, template }: PolicyForm): Placement | null {
  const placement: Placement = place === "bearer"
    ? { kind: place }
    : place === "header"
    ? { kind: place, name: place_name, template }
    : place === "basic"
    ? { kind: place, username: place_name }
    : { kind: place, name: place_name };
  const plain: DropFields = { ...PLAIN, placement };
  return reads(() => readPolicy(policyOf(plain, placement))) ? placement : null;
}

const PLAIN: DropFields = {
  name: "x",
  origins: ["https://x.invalid"],
  placement: { kind: "bearer" },
  rules: [FIRST_RULE],
  max_seconds: 1,
  private_network: false,
};

/** Name, origins and place were read already: what is left are the rules and the time. */
function restProblem(fields: DropFields, placement: Placement): Partial<Record<FormPart, string>> {
  const rules = { ...PLAIN, rules: fields.rules };
  if (reads(() => readPolicy(policyOf(rules, placement)))) {
    return { grant: "A grant lasts at most 30 days, and there are at most 20 hosts." };
  }
  return { rules: "A path has plain letters only, no dots between slashes, no query and no encoded slash." };
}

function policyOf(fields: DropFields, placement: Placement): Policy {
  const { name, origins, rules, max_seconds, private_network } = fields;
  return {
    v: 1,
    secret_id: newId(),
    name,
    version: 1,
    prev: null,
    origins,
    rules,
    placement,
    request_hash: null,
    limits: { max_seconds, max_body_bytes: 0, private_network },
    epoch: newId(),
    created_ms: 0,
  };
}

function reads(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
