/** Results about a request and what became of it: the same words for `request_access` and `request_secret_from_human`. */

import { CustosError } from "@custos/core/errors";
import { displaySafe } from "@custos/core/display";
import type { GrantView } from "@custos/rpc/inventory_schemas";
import type { AccessStatusResult } from "@custos/rpc/request_schemas";
import { type About, aboutLine, errorResult, type ToolResult, toolResult } from "./results.ts";
import type { Known } from "./waiting.ts";

/** Names of the tools that poll. */
export type PollTool = "request_access" | "request_secret_from_human";

/** The result for a request in any state. `poll` is the tool to name while it is pending. */
export function answerResult(state: Known | AccessStatusResult, poll: PollTool): ToolResult {
  switch (state.status) {
    case "pending":
      return pendingResult(state, poll, "pending", "");
    case "granted":
      return grantedResult(state);
    case "delivered":
      return deliveredResult(state);
    case "denied":
    case "expired":
    case "withdrawn":
      return errorResult(endedError(state));
  }
}

/** A request that waits for the human: the words for the user, and how to come back. */
export function pendingResult(
  about: About & { expires_ms?: number; delivery?: string },
  poll: PollTool,
  status: "pending" | "needs_approval",
  then: string,
): ToolResult {
  const args = JSON.stringify({ request_id: about.request_id });
  const late = about.delivery === "not_delivered"
    ? " The phone has not been reached yet; ask the user to open custos on it."
    : "";
  const next_step =
    `Tell the user these three words now: ${about.fingerprint}. The card on their phone must show the ` +
    `same three words; if it shows others, they must deny it. Then call ${poll} with ${args} and nothing else but ` +
    `wait_seconds.${then}${late}`;
  return toolResult(`Not answered yet. ${next_step} ${aboutLine(about.request_id, about.fingerprint)}`, {
    status,
    request_id: about.request_id,
    fingerprint: about.fingerprint,
    expires_ms: about.expires_ms,
    delivery: about.delivery,
    poll_tool: poll,
    poll_request_id: about.request_id,
    next_step,
  });
}

function grantedResult(state: Known | AccessStatusResult): ToolResult {
  const { grant } = state;
  const isHttp = "type" in state && state.type === "http";
  const next_step = grant?.ended
    ? "The grant has ended: it was used up, ran out, or was revoked. Ask again only if you still need it."
    : isHttp
    ? "Call http_request again now, with exactly the same arguments. What was approved is kept for ten minutes."
    : "Call http_request now.";
  const scope = grant === undefined || grant.ended ? "" : ` ${scopeSentence(grant)}`;
  const about = aboutLine(state.request_id, state.fingerprint);
  return toolResult(`The user approved.${scope} ${next_step} ${about}`, {
    status: "granted",
    request_id: state.request_id,
    fingerprint: state.fingerprint,
    handle: grant?.handle,
    grant_id: grant?.grant_id,
    grant_ended: grant?.ended,
    origins: grant?.origins,
    methods: grant?.methods,
    path: grant?.path,
    path_prefix: grant?.path_prefix,
    uses_left: grant?.uses_left,
    grant_expires_ms: grant?.expires_ms,
    next_step,
  });
}

/** What a grant allows, in one sentence. */
export function scopeSentence(grant: GrantView): string {
  const where = grant.path ?? `${grant.path_prefix ?? "/"} and below`;
  return `Allowed: ${grant.methods.join(", ")} at ${grant.origins.join(", ")}, path ${displaySafe(where)}, ` +
    `${grant.uses_left} more ${grant.uses_left === 1 ? "time" : "times"}, until ${
      isoTime(grant.expires_ms)
    }.`;
}

/** A time for people and models. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function deliveredResult(state: Known): ToolResult {
  const { handle } = state;
  if (handle === undefined) {
    return errorResult(
      new CustosError(
        "outcome_unknown",
        "The secret was delivered, but the daemon did not say under which name.",
      )
        .withRequest(state.request_id, state.fingerprint),
    );
  }
  const next_step =
    `Use the secret by its handle ${handle}: the user may have chosen another name than you proposed. ` +
    "Call list_handles to see what it may do.";
  return toolResult(`The secret is there. ${next_step} ${aboutLine(state.request_id, state.fingerprint)}`, {
    status: "delivered",
    handle,
    request_id: state.request_id,
    fingerprint: state.fingerprint,
    next_step,
  });
}

function endedError(state: Known | AccessStatusResult): CustosError {
  const kind = state.status as "denied" | "expired" | "withdrawn";
  const why = "reason" in state && state.reason !== undefined ? ` (${displaySafe(state.reason)})` : "";
  const messages = {
    denied: "The user denied this request on the phone.",
    expired: "This request expired: nobody answered it in time.",
    withdrawn: `This request was withdrawn${why} before anybody answered it.`,
  };
  return new CustosError(kind, messages[kind]).withRequest(state.request_id, state.fingerprint);
}
