/**
 * From an agent's words to a checked request: parsed once, held against the policy, and refused before any person is
 * asked (DESIGN §1 step 2).
 */

import { contentHash } from "@custos/core/content";
import { asCustosError, CustosError } from "@custos/core/errors";
import { checkHeaders } from "@custos/core/header_rules";
import { nameOfHandle, REQUEST_LIMITS } from "@custos/core/request";
import { checkTarget, parseTarget, type Target } from "@custos/core/target";
import { bodyBytes, type HttpParams } from "@custos/rpc/http_schemas";
import { agentOf, type Draft } from "./asks.ts";
import type { AuditLog } from "./audit_log.ts";
import { type FixedBody, memoryBody } from "./fixed_body.ts";
import type { Outgoing } from "./gate.ts";
import type { PolicyStore, StoredSecret } from "./policy_store.ts";
import type { RelayAddress } from "./relay_line.ts";

/** The secret behind a handle. Throws `unknown_handle`. */
export function secretOf(policies: PolicyStore, handle: string): StoredSecret {
  const name = nameOfHandle(handle);
  const secret = name === null ? undefined : policies.byName(name);
  if (secret === undefined) {
    throw new CustosError(
      "unknown_handle",
      `There is no secret ${handle}. Ask the person for it with a drop request.`,
    );
  }
  return secret;
}

/** Takes in a body of at most `max` bytes that did not come with the params. */
export type TakeBody = (max: number) => Promise<FixedBody>;

/**
 * Refuses a request to the relay of this daemon, whatever the policy says (B24). The daemon itself has only a unix socket,
 * which no URL names.
 */
export function checkNotSelf(target: Target, relay: RelayAddress): void {
  if (target.origin !== relay.url && target.origin !== relay.dial) return;
  throw new CustosError(
    "host_not_allowed",
    `${target.origin} is the relay of custos itself. Nothing was sent.`,
  );
}

/** Checks a request. What is refused leaves one audit entry with the reason and without the person. */
export async function prepare(
  policies: PolicyStore,
  audit: AuditLog,
  params: HttpParams,
  relay: RelayAddress,
  take?: TakeBody,
): Promise<Outgoing> {
  try {
    return await check(policies, params, relay, take);
  } catch (error) {
    const { kind } = asCustosError(error);
    const agent = agentOf(params.agent).name;
    audit.write({ event: "request_refused", why: kind, handle: params.handle, agent });
    throw error;
  }
}

async function check(
  policies: PolicyStore,
  params: HttpParams,
  relay: RelayAddress,
  take?: TakeBody,
): Promise<Outgoing> {
  const secret = secretOf(policies, params.handle);
  const { policy } = secret;
  const target = parseTarget(params.method, params.url);
  checkTarget(policy, target);
  checkNotSelf(target, relay);
  const headers = checkHeaders(policy, params.headers ?? []);
  if (take !== undefined && params.body !== undefined) {
    throw new CustosError("bad_request", "The request has two bodies, one in its params. Nothing was sent.");
  }
  const bodiless = target.method === "GET" || target.method === "HEAD";
  const body = take === undefined || bodiless
    ? await memoryBody(params.body === undefined ? new Uint8Array(0) : bodyBytes(params.body))
    : await take(policy.limits.max_body_bytes);
  if (body.size > policy.limits.max_body_bytes) {
    const most = policy.limits.max_body_bytes;
    throw new CustosError("body_too_large", `The body has ${body.size} bytes; the policy allows ${most}.`);
  }
  if (bodiless && (take !== undefined || body.size > 0)) {
    throw new CustosError(
      "bad_request",
      `A ${target.method} request has no body. Use another method, or leave the body out.`,
    );
  }
  const { method, url, origin, path } = target;
  const agent = agentOf(params.agent).name;
  const contentSha256 = () => contentHash({ method, url, headers, body_sha256: body.sha256 });
  return { secret, target, headers, body, use: { agent, origin, method, path }, contentSha256 };
}

/** The request document of a checked request, for the person. */
export function draftOf(outgoing: Outgoing, params: HttpParams): Draft {
  const { secret, target, headers, body } = outgoing;
  return {
    type: "http",
    agent: agentOf(params.agent),
    reason: params.reason.slice(0, REQUEST_LIMITS.reason).toWellFormed(),
    handle: params.handle,
    secret_id: secret.secret_id,
    policy_hash: secret.policy_hash,
    header_sha256: secret.header_sha256,
    wanted: { uses: 1, seconds: null, methods: null, path_prefix: null },
    http: {
      method: target.method,
      url: target.url,
      headers,
      body_sha256: body.sha256,
      body_bytes: body.size,
      body_preview: previewOf(body),
    },
  };
}

/** The body's first characters, or `null` where it is not text: then the card offers this exact request only. */
export function previewOf(body: FixedBody): string | null {
  const bytes = body.head.subarray(0, 4 * REQUEST_LIMITS.body_preview);
  try {
    // where the body goes on, the cut may be inside a character, which makes the text no less a text
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const text = decoder.decode(bytes, { stream: bytes.length < body.size });
    return text.slice(0, REQUEST_LIMITS.body_preview).toWellFormed();
  } catch {
    return null;
  }
}
