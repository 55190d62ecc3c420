/** Whom a request is counted against. */

/**
 * The address that a request counts against, or `null` for one that comes through a unix socket: only this machine's
 * owner can open that, so it is not limited.
 *
 * `X-Forwarded-For` is text that anybody can send, so it is read only where the operator says how many proxies of their
 * own stand in front (`proxy_hops`): then the address is the one that the outermost of them saw, counted from the right.
 */
export function countedAddress(
  peer: Deno.Addr | undefined,
  forwarded: string | undefined,
  proxy_hops: number,
): string | null {
  if (proxy_hops > 0) {
    const seen = (forwarded ?? "").split(",").map((entry) => entry.trim()).at(-proxy_hops);
    if (seen !== undefined && seen !== "") return network(seen);
  }
  return peer !== undefined && "hostname" in peer ? network(peer.hostname) : null;
}

/** An IPv4 address as it is, an IPv6 one as its /64: one subscriber has 2^64 of the latter. */
function network(address: string): string {
  const bare = address.replace(/^\[|\](?::\d+)?$|%.*$/g, "").toLowerCase();
  if (!bare.includes(":")) return bare;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(bare)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = bare.split("::");
  const groups = head === "" ? [] : head.split(":");
  const rest = tail === undefined || tail === "" ? [] : tail.split(":");
  while (groups.length + rest.length < 8) groups.push("0");
  return [...groups, ...rest].slice(0, 4).map((group) => parseInt(group, 16).toString(16)).join(":") +
    "::/64";
}
