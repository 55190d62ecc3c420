/**
 * The configured origin of the phone app, in its one accepted form. Client data is compared with it as a string, so
 * `https://x.example/` in a setting must not become a set-up that can never succeed, or one that accepts more (B116).
 */

import { CustosError } from "@custos/core/errors";

/** An origin, and the RP id that goes with it: its exact host, never a parent domain. */
export interface PhoneOrigin {
  origin: string;
  rp_id: string;
}

/** Scheme, host name of letters, digits and hyphens, a port, and at most one slash at the end. Nothing is trimmed. */
const WRITTEN = /^https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::[0-9]{1,5})?\/?$/i;

/**
 * The canonical form of a configured origin: `https://X.example:443/` becomes `https://x.example` with RP id
 * `x.example`. Throws `bad_request` for everything that is not just an origin (a path, a query, user info, a trailing
 * dot, an IP address, which WebAuthn allows as no RP id), and for http on any host but localhost.
 *
 * ```ts
 * import { normaliseOrigin } from "@custos/daemon/webauthn_check";
 * if (normaliseOrigin("https://X.example:443/").origin !== "https://x.example") throw new Error("not canonical");
 * ```
 */
export function normaliseOrigin(written: string): PhoneOrigin {
  const url = WRITTEN.test(written) && URL.canParse(written) ? new URL(written) : null;
  if (url === null || url.port === "0" || isAddress(url.hostname)) {
    throw refused("Write just the origin, as https://phone.example or https://phone.example:8443.");
  }
  // Browsers offer passkeys on secure pages only; localhost counts as one.
  const local = url.hostname === "localhost" || url.hostname.endsWith(".localhost");
  if (url.protocol === "http:" && !local) {
    throw refused("It must begin with https:// (http is for localhost).");
  }
  return { origin: url.origin, rp_id: url.hostname };
}

/** `URL` reads 2130706433 and 0x7f.1 as IPv4 addresses, so the parsed host is asked. */
function isAddress(hostname: string): boolean {
  return /^[0-9.]+$/.test(hostname);
}

function refused(how: string): CustosError {
  return new CustosError("bad_request", `The origin of the phone app was refused. ${how}`);
}
