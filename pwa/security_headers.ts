/**
 * The headers of every answer of the phone app, for its own server, for `custos-verify-pwa`, and for whoever hosts it
 * elsewhere (`docs/host-the-phone-app.md` lists them). They leave a page no room: no inline script or style, no frame, no
 * third party, and connections to the named relays only (DESIGN §6.4, §13, case B131).
 */

/** The Content Security Policy, directive by directive. `relays` are origins, named exactly. */
export function contentSecurityPolicy(relays: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    ["connect-src 'self'", ...relays].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types custos",
  ].join("; ");
}

/** What a page of this origin may use: the camera for codes, passkeys, and nothing else that a policy can name. */
const PERMISSIONS_POLICY = [
  ...["camera", "publickey-credentials-create", "publickey-credentials-get"].map((name) => `${name}=(self)`),
  ...[
    "bluetooth",
    "browsing-topics",
    "clipboard-read",
    "display-capture",
    "geolocation",
    "hid",
    "microphone",
    "midi",
    "payment",
    "serial",
    "usb",
  ].map((name) => `${name}=()`),
].join(", ");

/**
 * All of them, by lower-case name. `Strict-Transport-Security` is not among them: this server speaks plain HTTP behind
 * whatever ends TLS, and the header would hold for every port and program of that host. A host that serves nothing else
 * should add it.
 */
export function securityHeaders(relays: readonly string[]): Record<string, string> {
  return {
    "content-security-policy": contentSecurityPolicy(relays),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": PERMISSIONS_POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  };
}
