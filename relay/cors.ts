/** Which web pages may use the relay. */

import { INVITE_HEADER } from "@custos/core/relay_wire";
import { Refusal } from "./refusal.ts";

/**
 * Refuses a request that a foreign page sends. A browser would hide the reply from that page anyway; refusing keeps it
 * from doing anything at all (B153). Programs send no `Origin` and pass: tokens are what protects a mailbox.
 */
export function requireOrigin(origin: string | undefined, allowed: readonly string[]): void {
  if (origin === undefined || allowed.includes(origin)) return;
  throw new Refusal("origin_not_allowed", "This relay does not serve pages of this origin.");
}

/** The reply to a preflight of an allowed origin; {@link setCommonHeaders} names the origin. */
export function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST, PUT, DELETE",
      "access-control-allow-headers": `authorization, content-type, ${INVITE_HEADER}`,
      "access-control-max-age": "7200",
    },
  });
}

/** Headers of every reply. Credentials are never allowed: the relay knows no cookies. */
export function setCommonHeaders(
  headers: Headers,
  origin: string | undefined,
  allowed: readonly string[],
): void {
  headers.set("cache-control", "no-store, no-transform"); // no-transform also keeps the runtime from compressing
  headers.set("x-content-type-options", "nosniff");
  headers.append("vary", "origin");
  if (origin === undefined || !allowed.includes(origin)) return;
  headers.set("access-control-allow-origin", origin);
  headers.set("access-control-expose-headers", "retry-after");
}
