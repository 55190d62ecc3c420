/**
 * What may be offered for a card (DESIGN §6.3): the narrowest first, and every wider one as a choice of its own with its
 * own label. The policy is the upper bound; a grant that is wider is refused here already.
 */

import { contentHash } from "@custos/core/content";
import { CustosError } from "@custos/core/errors";
import { type Grant, type GrantScope, ONCE_SECONDS, PATH_OFFER, readGrant } from "@custos/core/grant";
import { newId } from "@custos/core/ids";
import type { Policy } from "@custos/core/policy";
import { withinPrefix } from "@custos/core/target_path";
import type { Wanted } from "@custos/core/request";
import type { VerifiedCard } from "./card.ts";

/**
 * A choice.
 * - `once`: one use. Of an http card this exact request, byte for byte.
 * - `path`: of an http card its method and path, with any query and body, 15 minutes and at most 100 uses.
 * - `wanted`: of an access card what the agent asked for, within the policy.
 * - `minutes`: the same methods and path as `path` or `wanted` for so long.
 * - `narrow`: of an access card a part of what the agent asked for.
 */
export type Offer =
  | { kind: "once" }
  | { kind: "path" }
  | { kind: "wanted" }
  | { kind: "minutes"; minutes: number }
  | { kind: "narrow"; methods: string[]; path_prefix: string; minutes: number };

/** A card about a secret that exists: what a grant can be given for. */
export type GrantCard = Extract<VerifiedCard, { type: "http" | "access" }>;

/** An offer as it is shown. */
export interface ShownOffer {
  offer: Offer;
  label: string;
}

/** Uses of a grant that is bounded by its time alone: the most that a grant can say. */
export const UNCOUNTED_USES = 1_000_000;

/** The offers for a card, the default one first. */
export function offersFor(card: GrantCard): ShownOffer[] {
  const offers: Offer[] = card.type === "http"
    ? [{ kind: "once" }, { kind: "path" }]
    : [{ kind: "wanted" }, { kind: "once" }];
  const minutes = Math.floor(Math.min(PATH_OFFER.seconds, card.policy.limits.max_seconds) / 60);
  if (card.type === "http" && minutes >= 1) offers.push({ kind: "minutes", minutes });
  return offers.map((offer) => showOffer(card, offer));
}

/** An offer with its label: all that it allows, in one line. */
export function showOffer(card: GrantCard, offer: Offer): ShownOffer {
  return { offer, label: card.type === "http" ? httpLabel(card, offer) : accessLabel(card, offer) };
}

function httpLabel(card: HttpCard, offer: Offer): string {
  if (offer.kind === "once") return "This exact request, once";
  const { method, path } = card.target;
  const what = `${method} ${path} with any query and body`;
  return offer.kind === "minutes"
    ? `${what}, ${lastingText(offer.minutes * 60)}, as often as it asks`
    : `${what}, ${lastingText(pathSeconds(card.policy))}, at most ${PATH_OFFER.max_uses} times`;
}

function accessLabel(card: AccessCard, offer: Offer): string {
  const { policy, doc: { wanted } } = card;
  const { methods, path_prefix } = offer.kind === "narrow" ? offer : accessScope(card);
  const where = `${methods.join(", ")} under ${path_prefix}`;
  if (offer.kind === "once") return `${where}, one request`;
  const seconds = offer.kind === "minutes" || offer.kind === "narrow"
    ? offer.minutes * 60
    : wantedSeconds(policy, wanted);
  const uses = wanted.uses === null ? "as often as it asks" : `at most ${wanted.uses} times`;
  return `${where}, ${lastingText(seconds)}, ${uses}`;
}

/** The offer from which a person narrows an access card: all of what was asked, in whole minutes; `null` below one. */
export function narrowable(card: AccessCard): Extract<Offer, { kind: "narrow" }> | null {
  const { methods, path_prefix } = accessScope(card);
  const minutes = Math.floor(wantedSeconds(card.policy, card.doc.wanted) / 60);
  return minutes < 1 ? null : { kind: "narrow", methods: [...methods], path_prefix, minutes };
}

/** What is granted where nobody chose: the narrowest for an http card, what was asked for an access card. */
export function defaultOffer(card: GrantCard): Offer {
  return card.type === "http" ? { kind: "once" } : { kind: "wanted" };
}

/** The grant of an offer. Throws `bad_request` where the offer is not for this card, or the policy does not allow it. */
export async function grantFor(card: GrantCard, offer: Offer): Promise<Grant> {
  const { doc, policy } = card;
  const grant = {
    grant_id: newId(),
    request_hash: card.request_hash,
    secret_id: doc.secret_id,
    policy_hash: doc.policy_hash,
    agent: doc.agent.name,
    ...(card.type === "http" ? await httpGrant(card, offer) : accessGrant(card, offer)),
  };
  return readGrant(grant, policy);
}

type Extent = Pick<Grant, "scope" | "seconds" | "max_uses">;
type HttpCard = Extract<GrantCard, { type: "http" }>;
type AccessCard = Extract<GrantCard, { type: "access" }>;

async function httpGrant(card: HttpCard, offer: Offer): Promise<Extent> {
  const { method, origin, path, url } = card.target;
  const scope: GrantScope = { origins: [origin], methods: [method], path };
  switch (offer.kind) {
    case "once": {
      const { headers, body_sha256 } = card.doc.http;
      const content_sha256 = await contentHash({ method, url, headers, body_sha256 });
      return { scope: { ...scope, content_sha256 }, seconds: ONCE_SECONDS, max_uses: 1 };
    }
    case "path":
      return { scope, seconds: pathSeconds(card.policy), max_uses: PATH_OFFER.max_uses };
    case "minutes":
      return { scope, seconds: secondsOf(card.policy, offer.minutes), max_uses: UNCOUNTED_USES };
    case "wanted":
    case "narrow":
      throw new CustosError("bad_request", "This request is one HTTP request. Choose once, path or minutes.");
  }
}

function accessGrant(card: AccessCard, offer: Offer): Extent {
  const { policy, doc: { wanted } } = card;
  const scope = accessScope(card);
  const max_uses = wanted.uses ?? UNCOUNTED_USES;
  switch (offer.kind) {
    case "once":
      return { scope, seconds: Math.min(ONCE_SECONDS, policy.limits.max_seconds), max_uses: 1 };
    case "wanted":
      return { scope, seconds: wantedSeconds(policy, wanted), max_uses };
    case "minutes":
      return { scope, seconds: secondsOf(policy, offer.minutes), max_uses };
    case "narrow":
      return narrowGrant(card, scope, offer, max_uses);
    case "path":
      throw new CustosError(
        "bad_request",
        "This request names no single path. Choose once, wanted or minutes.",
      );
  }
}

/** Refused where it is wider than what was asked: a label that says "narrower" must be true. */
function narrowGrant(
  card: AccessCard,
  scope: GrantScope & { path_prefix: string },
  offer: Extract<Offer, { kind: "narrow" }>,
  max_uses: number,
): Extent {
  const { methods, path_prefix, minutes } = offer;
  const inside = methods.length > 0 && methods.every((method) => scope.methods.includes(method)) &&
    path_prefix.startsWith("/") && withinPrefix(path_prefix, scope.path_prefix);
  const seconds = secondsOf(card.policy, minutes);
  if (!inside || seconds > wantedSeconds(card.policy, card.doc.wanted)) {
    throw new CustosError(
      "bad_request",
      "Narrower means fewer methods, a path below the one asked for, less time.",
    );
  }
  return { scope: { origins: scope.origins, methods: [...methods], path_prefix }, seconds, max_uses };
}

/**
 * Methods and prefix of an access grant. Where the agent named a prefix, the methods that the policy allows there; else
 * the first rule under which all wanted methods are allowed. A method that the policy does not allow is refused, not
 * dropped: the person would see less than was asked and not know.
 */
function accessScope(card: AccessCard): GrantScope & { path_prefix: string } {
  const { policy, doc: { wanted } } = card;
  const prefixes = wanted.path_prefix === null
    ? policy.rules.map((rule) => rule.path_prefix)
    : [wanted.path_prefix];
  for (const path_prefix of prefixes) {
    const allowed = methodsAt(policy, path_prefix);
    const methods = wanted.methods ?? allowed;
    if (methods.length > 0 && methods.every((method) => allowed.includes(method))) {
      return { origins: [...policy.origins], methods: [...methods], path_prefix };
    }
  }
  throw new CustosError(
    "bad_request",
    `The policy of custos:${policy.name} does not allow what is asked for.`,
  );
}

function methodsAt(policy: Policy, path: string): string[] {
  const rules = policy.rules.filter((rule) => withinPrefix(path, rule.path_prefix));
  return [...new Set(rules.flatMap((rule) => rule.methods))];
}

function pathSeconds(policy: Policy): number {
  return Math.min(PATH_OFFER.seconds, policy.limits.max_seconds);
}

function wantedSeconds(policy: Policy, wanted: Wanted): number {
  return Math.min(wanted.seconds ?? PATH_OFFER.seconds, policy.limits.max_seconds);
}

/** Seconds of a chosen number of minutes. Refused rather than cut: who chose an hour must know that it is not one. */
function secondsOf(policy: Policy, minutes: number): number {
  const seconds = minutes * 60;
  if (!Number.isInteger(minutes) || minutes < 1) {
    throw new CustosError("bad_request", "Minutes must be a whole number, at least 1.");
  }
  if (seconds > policy.limits.max_seconds) {
    const longest = lastingText(policy.limits.max_seconds);
    throw new CustosError(
      "bad_request",
      `The policy of custos:${policy.name} allows grants of at most ${longest}.`,
    );
  }
  return seconds;
}

function lastingText(seconds: number): string {
  if (seconds % 3_600 === 0) return `${seconds / 3_600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}
