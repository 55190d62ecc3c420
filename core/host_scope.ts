/**
 * What a host's spelling says about the network it is on. Names that resolve to inside addresses are another matter: the
 * runtime checks those after DNS (DESIGN §3, B13).
 */

/** `forbidden` is never contacted, in no profile: cloud metadata is there (DESIGN §3). */
export type HostScope = "public" | "private" | "forbidden";

/** [first address, prefix length, scope] of the IANA special-purpose registry (RFC 6890) as far as DESIGN §3 names it. */
const IPV4: readonly (readonly [string, number, HostScope])[] = [
  ["0.0.0.0", 8, "forbidden"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "forbidden"],
  ["127.0.0.0", 8, "private"],
  ["169.254.0.0", 16, "forbidden"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "forbidden"],
  ["192.168.0.0", 16, "private"],
  ["198.18.0.0", 15, "forbidden"],
  ["224.0.0.0", 4, "forbidden"],
  ["240.0.0.0", 4, "forbidden"],
];

/** Suffixes that public DNS does not serve: RFC 6761, RFC 6762, RFC 8375, and ICANN's reserved `internal`. */
const PRIVATE_SUFFIX = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/** Scope of a hostname in the form in which `URL` gives it (IPv6 in brackets, IPv4 as dotted quad). */
export function hostScope(hostname: string): HostScope {
  if (hostname.startsWith("[")) return ipv6Scope(hostname.slice(1, -1));
  if (/^\d+\.\d+\.\d+\.\d+$/.test(hostname)) return ipv4Scope(hostname);
  // a single label is found by the machine's search list or hosts file, so it is somebody's inside name (B11)
  if (!hostname.includes(".") || PRIVATE_SUFFIX.test(hostname)) return "private";
  return "public";
}

/** Whether a hostname is, by its spelling, not on the public internet. */
export function isPrivateHost(hostname: string): boolean {
  return hostScope(hostname) !== "public";
}

function ipv4Scope(address: string): HostScope {
  const value = ipv4Number(address);
  for (const [first, bits, scope] of IPV4) {
    const size = 2 ** (32 - bits);
    if (Math.floor(value / size) === Math.floor(ipv4Number(first) / size)) return scope;
  }
  return "public";
}

function ipv4Number(address: string): number {
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** Groups of an IPv6 address as `URL` writes it: hexadecimal, at most one `::`, no dotted quad. */
function ipv6Groups(address: string): number[] {
  const halves = address.split("::").map((half) => half === "" ? [] : half.split(":"));
  const [head = [], tail = []] = halves;
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return [...head, ...(halves.length === 2 ? zeros : []), ...tail].map((group) => parseInt(group, 16));
}

function ipv6Scope(address: string): HostScope {
  const groups = ipv6Groups(address);
  const [a = 0, b = 0] = groups;
  const embedded = `${groups[6]! >> 8}.${groups[6]! & 255}.${groups[7]! >> 8}.${groups[7]! & 255}`;
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) return ipv4Scope(embedded);
  if (groups.slice(0, 7).every((group) => group === 0) && groups[7] === 1) return "private";
  if ((a & 0xfe00) === 0xfc00) return "private"; // fc00::/7, RFC 4193
  // 2000::/3 is all that is handed out; 2002::/16 and 2001:0::/32 tunnel to any IPv4 address
  const handedOut = (a & 0xe000) === 0x2000 && a !== 0x2002 && !(a === 0x2001 && b === 0);
  return handedOut ? "public" : "forbidden";
}
