/**
 * The lists that permission flags are made of: addresses that the daemon never reaches, and environment variables that it
 * deletes or refuses. Data only; `permissions.ts` is the only reader among the tools.
 */

/**
 * Addresses that no profile may reach. The runtime checks them again after DNS, in every spelling (decimal, hex, short,
 * IPv4-mapped). `0.0.0.0/8` is in it because a connection to `0.0.0.0` ends at loopback. IPv6 ranges cannot be written
 * as a rule, so egress is IPv4 only (DESIGN §3).
 */
export const DENIED_LAN: readonly string[] = [
  "0.0.0.0/8",
  // Shared address space, and 100.100.100.200, a cloud's metadata service.
  "100.64.0.0/10",
  // Link-local, and 169.254.169.254, the metadata service of most clouds.
  "169.254.0.0/16",
  // A cloud's host agent on a public address: it hands out machine credentials.
  "168.63.129.16",
  // IETF protocol assignments, and 192.0.0.192, a cloud's metadata service.
  "192.0.0.0/24",
  "198.18.0.0/15",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "[::]",
  "[fd00:ec2::254]",
  "metadata.google.internal",
];

/** What `public` denies beside that: loopback and RFC 1918. */
export const DENIED_PUBLIC: readonly string[] = [
  ...DENIED_LAN,
  "10.0.0.0/8",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "[::1]",
];

/**
 * Everything but 127.0.0.0/8, for tests and the demo: they may use any loopback port and any unix socket of their own, and
 * the runtime keeps them from all the rest. (A list of allowed addresses cannot name sockets in folders not yet made.)
 */
export const DENIED_TESTS: readonly string[] = [
  "0.0.0.0/2",
  "64.0.0.0/3",
  "96.0.0.0/4",
  "112.0.0.0/5",
  "120.0.0.0/6",
  "124.0.0.0/7",
  "126.0.0.0/8",
  "128.0.0.0/1",
  "[::]",
];

/** Proxy variables: the runtime's fetch obeys them even for 127.0.0.1. The daemon deletes them at its start. */
export const DELETED_ENV: readonly string[] = [
  "ALL_PROXY",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "NO_PROXY",
  "all_proxy",
  "http_proxy",
  "https_proxy",
  "no_proxy",
];

/**
 * Variables under which the daemon refuses to start: the first opens an inspector, the second writes TLS keys to a file,
 * the others hand permission decisions to another process.
 */
export const REFUSED_ENV: readonly string[] = [
  "DENO_PERMISSION_BROKER_PATH",
  "NODE_OPTIONS",
  "SSLKEYLOGFILE",
];
