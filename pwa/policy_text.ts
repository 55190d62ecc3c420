/**
 * A policy in words: the sentence that a person reads before a touch. It says all that the policy allows, in one form, so
 * that two policies that differ never read the same.
 */

import type { Policy, PolicyRule } from "@custos/core/policy";
import type { Widening } from "@custos/core/policy_change";

/** What the sentence is made of. */
export type SpokenPolicy = Pick<Policy, "name" | "origins" | "rules" | "placement" | "limits">;

/**
 * The sentence.
 *
 * ```ts
 * import { policySentence } from "@custos/pwa";
 * const said = policySentence({
 *   name: "github",
 *   origins: ["https://api.github.com"],
 *   rules: [{ methods: ["GET", "POST"], path_prefix: "/repos/" }],
 *   placement: { kind: "bearer" },
 *   limits: { max_seconds: 28_800, max_body_bytes: 1_000_000, private_network: false },
 * });
 * if (!said.startsWith("custos:github may be sent to api.github.com, GET and POST under /repos/,")) throw new Error();
 * ```
 */
export function policySentence({ name, origins, rules, placement, limits }: SpokenPolicy): string {
  const where = listed(origins.map(originText));
  const what = rules.map(ruleText).join("; ");
  const lasting = lastingText(limits.max_seconds);
  const inside = limits.private_network ? " It may reach your own network." : "";
  return `custos:${name} may be sent to ${where}, ${what}, ${placementPhrase(placement)}, ` +
    `for at most ${lasting} at a time.${inside}`;
}

/** The host of an https origin; an http origin whole, because that it is not encrypted must not be lost. */
export function originText(origin: string): string {
  return origin.startsWith("https://") ? origin.slice(8) : `${origin} (not encrypted)`;
}

/** `GET and POST under /repos/`. */
export function ruleText({ methods, path_prefix }: PolicyRule): string {
  return `${listed(methods)} under ${path_prefix}`;
}

/** Where the secret goes in a request. */
export function placementPhrase(placement: Policy["placement"]): string {
  switch (placement.kind) {
    case "bearer":
      return "as a Bearer token";
    case "header": {
      const { name, template } = placement;
      return template === "{secret}" ? `in the header ${name}` : `in the header ${name} as "${template}"`;
    }
    case "basic":
      return `as the password of ${placement.username}`;
    case "query":
      return `in the query as ${placement.name}`;
  }
}

/** A length of time, exact: `90 s`, `15 min`, `8 h`, `2 days`. */
export function lastingText(seconds: number): string {
  if (seconds % 86_400 === 0 && seconds >= 172_800) return `${seconds / 86_400} days`;
  if (seconds % 3_600 === 0) return `${seconds / 3_600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

/** A size, exact: `512 B`, `16 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes % 1_048_576 === 0 && bytes > 0) return `${bytes / 1_048_576} MiB`;
  return bytes % 1_024 === 0 && bytes > 0 ? `${bytes / 1_024} KiB` : `${bytes} B`;
}

/** One part of a policy that a change touches. */
export interface ChangedPart {
  part: string;
  before: string;
  after: string;
}

/** The parts in which two versions differ, in the order of the form. */
export function changedParts(old: SpokenPolicy, next: SpokenPolicy): ChangedPart[] {
  const rows: [string, (policy: SpokenPolicy) => string][] = [
    ["Goes to", (policy) => listed(policy.origins.map(originText))],
    ["Place", (policy) => placementPhrase(policy.placement)],
    ["Rules", (policy) => policy.rules.map(ruleText).join("; ")],
    ["Longest grant", (policy) => lastingText(policy.limits.max_seconds)],
    ["Largest body", (policy) => sizeText(policy.limits.max_body_bytes)],
    ["Own network", (policy) => policy.limits.private_network ? "may be reached" : "may not be reached"],
  ];
  return rows.map(([part, say]) => ({ part, before: say(old), after: say(next) }))
    .filter(({ before, after }) => before !== after);
}

/** What a new version allows more, as a sentence. */
export function wideningText(widening: Widening): string {
  switch (widening.what) {
    case "origin":
      return `It may also be sent to ${originText(widening.origin)}.`;
    case "rule":
      return `${widening.method} under ${widening.path_prefix} is new.`;
    case "seconds":
      return `A grant may last ${lastingText(widening.to)}, before ${lastingText(widening.from)}.`;
    case "body":
      return `A body may have ${sizeText(widening.to)}, before ${sizeText(widening.from)}.`;
    case "private_network":
      return "It may reach your own network.";
    case "placement":
      return "It goes to another place in the request.";
  }
}

function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
