/**
 * `http.request`: the one call that sends. It sends only while it is live, under a grant that covers it; of two identical
 * calls one waits and sends, and the other is told to come back (DESIGN §5.2).
 */

import { CustosError } from "@custos/core/errors";
import { bodyInJson, type HttpParams, type HttpResult, type StreamPending } from "@custos/rpc/http_schemas";
import { DEFAULT_WAIT_MS } from "@custos/rpc/limits";
import { RpcError } from "@custos/rpc/rpc_error";
import type { Asks } from "./asks.ts";
import type { AuditLog } from "./audit_log.ts";
import type { Gate, Outgoing, SendOptions, Sent } from "./gate.ts";
import { draftOf, prepare, type TakeBody } from "./outgoing.ts";
import type { PolicyStore } from "./policy_store.ts";
import type { RelayAddress } from "./relay_line.ts";
import type { RequestEnds } from "./request_ends.ts";
import type { StoredRequest } from "./request_store.ts";
import type { Waits } from "./waits.ts";

/** What the calls need. */
export interface HttpParts {
  options: { relay: RelayAddress };
  policies: PolicyStore;
  audit: AuditLog;
  gate: Gate;
  asks: Asks;
  ends: RequestEnds;
  waits: Waits;
}

/** What a streamed call has beside its params. */
export interface HttpExtras {
  /** Takes in the body of an upload. */
  take?: TakeBody;
  /** Hears of the request that is waited for. */
  onPending?: (pending: StreamPending) => void;
}

/**
 * Sends a request, asking the person first where no grant covers it. Throws the refusal, or `needs_approval`, `denied`,
 * `expired` or `withdrawn` about the request that was made. A body that was taken in is let go of when the call is over.
 */
export async function sendHttp(
  parts: HttpParts,
  params: HttpParams,
  maxBytes: number,
  signal: AbortSignal,
  extras: HttpExtras = {},
): Promise<Sent> {
  const outgoing = await prepare(parts.policies, parts.audit, params, parts.options.relay, extras.take);
  const letGo = () => outgoing.body.dispose();
  try {
    const sent = await authorise(parts, outgoing, params, { signal, max_bytes: maxBytes }, extras.onPending);
    sent.response.finished.then(letGo, letGo);
    return sent;
  } catch (error) {
    letGo();
    throw error;
  }
}

async function authorise(
  parts: HttpParts,
  outgoing: Outgoing,
  params: HttpParams,
  options: SendOptions,
  onPending: HttpExtras["onPending"],
): Promise<Sent> {
  const { gate, asks, ends, waits } = parts;
  const { signal } = options;
  const live = await gate.grantFor(outgoing);
  if (live !== undefined) return await gate.send(outgoing, live, options);

  ends.expireOverdue();
  const { request, joined } = await asks.ask(draftOf(outgoing, params));
  // Another call waits for the same answer, and only one of them may send.
  if (joined && waits.count(request.id) > 0) throw RpcError.needsApproval(request.id, request.fingerprint);
  if (params.wait_ms !== 0) onPending?.({ request_id: request.id, fingerprint: request.fingerprint });
  const ended = await waits.until(request.id, params.wait_ms ?? DEFAULT_WAIT_MS, signal);
  if (ended.status !== "granted" || signal.aborted) throw unanswered(ended);
  const granted = await gate.grantFor(outgoing);
  if (granted === undefined) throw RpcError.needsApproval(ended.id, ended.fingerprint);
  return await gate.send(outgoing, granted, options);
}

/** The inline result of an answer: the body whole, as text where it is text. */
export async function inline({ request_id, fingerprint, response }: Sent): Promise<HttpResult> {
  let bytes: Uint8Array;
  try {
    bytes = response.whole?.bytes ?? new Uint8Array(await new Response(response.body).arrayBuffer());
  } catch (error) {
    await response.finished.catch(() => {}); // the gate has recorded it
    if (error instanceof CustosError) throw error.withRequest(request_id, fingerprint);
    throw new CustosError("outcome_unknown", "The answer was cut off. The request may have been carried out.")
      .withRequest(request_id, fingerprint);
  }
  const end = await response.finished;
  return {
    request_id,
    fingerprint,
    status_code: response.status,
    headers: response.headers,
    ...bodyInJson(bytes),
    truncated: end.truncated,
    redactions: end.redactions,
    received_bytes: end.received_bytes,
  };
}

/** The error that says how a request stands which was not granted. */
export function unanswered(request: StoredRequest): CustosError {
  const { id, fingerprint, status, decided_by, reason } = request;
  const by = decided_by === null ? "" : ` on ${decided_by}`;
  switch (status) {
    case "denied":
      return new CustosError("denied", `The person said no${by}. Nothing was sent.`).withRequest(
        id,
        fingerprint,
      );
    case "expired":
      return new CustosError("expired", "Nobody answered in time. Nothing was sent.").withRequest(
        id,
        fingerprint,
      );
    case "withdrawn":
      return new CustosError(
        "withdrawn",
        `The request was withdrawn (${reason ?? "by its caller"}). Nothing was sent.`,
      )
        .withRequest(id, fingerprint);
    default:
      return RpcError.needsApproval(id, fingerprint);
  }
}
