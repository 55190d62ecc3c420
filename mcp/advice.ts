/** What an agent should do after each kind of error. It answers the agent's next question, so it never loops (B97). */

import type { ErrorKind } from "@custos/core/errors";

const POLICY =
  "Call list_handles to see what this secret may do. Only the user can allow more, on the phone; tell them what you need and why.";
const MAYBE_SENT =
  "The request may have been carried out. Do not send it again unless it only reads; check its effect first, or ask the user.";
const LOCAL = "Tell the user; `custos status` in a terminal shows what is wrong.";

/** One sentence or two for each kind; total by its type. */
export const ADVICE: { readonly [K in ErrorKind]: string } = {
  needs_approval: "Tell the user the three words and wait for the answer on the phone.",
  denied:
    "The user said no. Do not ask again, in other words or by another way, unless the user tells you to.",
  expired:
    "Nobody answered in time, so nothing was done. Ask the user here before you ask on the phone again.",
  withdrawn: "This request can no longer be answered, and nothing was done for it. You may ask again once.",
  cooling_down:
    "This was refused a short while ago. Another reason, body or query changes nothing; talk to the user.",
  no_device: "No phone is paired, so nobody can answer. Ask the user to run `custos pair` in a terminal.",
  too_many_pending: "Too many requests wait for the user. Let them answer those first; do not ask in a loop.",
  pairing_refused: LOCAL,
  unknown_handle:
    "Call list_handles for the names. If the secret is missing, call request_secret_from_human.",
  unknown_request: "Check the request_id. It must be one that a custos tool gave you.",
  bad_request: "Correct the arguments and call again.",
  host_not_allowed: POLICY,
  method_not_allowed: POLICY,
  path_not_allowed: POLICY,
  header_not_allowed: "Leave this header out. custos adds the secret itself.",
  body_too_large: POLICY,
  private_address: POLICY,
  upstream_unreachable:
    "The API could not be reached and got nothing. Check the URL; trying again later is safe.",
  upstream_timeout: MAYBE_SENT,
  undecodable_encoding:
    "The API answered in an encoding that custos cannot search for the secret, so the answer was kept back. " +
    MAYBE_SENT,
  outcome_unknown: MAYBE_SENT,
  storage: "custos cannot write its records, so it does nothing. " + LOCAL,
  locked: "custos is locked. Ask the user to unlock it; " + LOCAL.charAt(0).toLowerCase() + LOCAL.slice(1),
  daemon_unreachable: "The custos daemon does not answer. Ask the user to start it, then call again.",
  internal: LOCAL,
};
