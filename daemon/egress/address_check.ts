/**
 * The addresses behind a name, in the `lan` profile only: there the runtime allows private addresses, so a policy without
 * `private_network` needs a check of its own (B13). In the `public` profile the runtime itself refuses them after DNS, at
 * the moment of connecting. A name that changes its addresses between this look-up and the connection gets past this
 * check, not past that one; docs and SECURITY.md say so.
 */

import { lookup } from "node:dns/promises";
import { CustosError } from "@custos/core/errors";
import { hostScope } from "@custos/core/host_scope";
import type { Target } from "@custos/core/target";

/** Finds the addresses of a host name. */
export type Resolver = (hostname: string) => Promise<string[]>;

/** What the system's resolver says, hosts file included. */
const systemResolver: Resolver = async (hostname) => {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address, family }) => family === 6 ? new URL(`http://[${address}]`).hostname : address);
};

/**
 * Throws `private_address` if any address of the target's host is not public: mixed answers fail closed (B13). Throws
 * `upstream_unreachable` if the name does not resolve.
 */
export async function checkAddresses(target: Target, resolve: Resolver = systemResolver): Promise<void> {
  let addresses: string[];
  try {
    addresses = await resolve(target.hostname.replace(/^\[|\]$/g, ""));
  } catch {
    addresses = [];
  }
  if (addresses.length === 0) {
    throw new CustosError(
      "upstream_unreachable",
      `The name ${target.hostname} does not resolve. Nothing was sent.`,
    );
  }
  if (addresses.some((address) => hostScope(address) !== "public")) {
    throw new CustosError(
      "private_address",
      `The name ${target.hostname} leads to a private address, and the policy has no private_network. Nothing was sent.`,
    );
  }
}
