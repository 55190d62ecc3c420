/**
 * The push services that browsers use: the only hosts to which a relay sends anything by itself. A subscription comes from
 * whoever has a mailbox, so its endpoint is a stranger's choice; without this list it would be a way to make the relay
 * call any address (SSRF). The relay's net permission is made of the same list, and TLS proves the host.
 */

/** Host names; `*.` stands for any name below. */
export const PUSH_SERVICES: readonly string[] = [
  "*.notify.windows.com",
  "*.push.apple.com",
  "*.push.services.mozilla.com",
  "fcm.googleapis.com",
];

/** Whether an endpoint, already decoded as one, is at a listed service. */
export function isPushService(endpoint: string, services: readonly string[] = PUSH_SERVICES): boolean {
  const { protocol, hostname, port, username, password } = new URL(endpoint);
  if (protocol !== "https:" || port !== "" || username !== "" || password !== "") return false;
  return services.some((service) =>
    service.startsWith("*.") ? hostname.endsWith(service.slice(1)) : hostname === service
  );
}
