import assert from "node:assert/strict";
import { countedAddress } from "./address.ts";

const tcp = (hostname: string): Deno.Addr => ({ transport: "tcp", hostname, port: 1 });

const PEERS: [string, string][] = [
  ["192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:DB8:0001:2::", "2001:db8:1:2::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
];
for (const [peer, counted] of PEERS) {
  Deno.test(`countedAddress() counts ${peer} as ${counted}`, () => {
    assert.equal(countedAddress(tcp(peer), undefined, 0), counted);
  });
}

Deno.test("countedAddress() counts nobody for a unix socket", () => {
  assert.equal(countedAddress({ transport: "unix", path: "/run/relay.sock" }, undefined, 0), null);
  assert.equal(countedAddress(undefined, undefined, 0), null);
});

const FORWARDED: [string, number, string | undefined, string][] = [
  ["ignores the header by default", 0, "198.51.100.1", "192.0.2.7"],
  ["takes what the only proxy saw", 1, "198.51.100.1", "198.51.100.1"],
  ["takes what the only proxy saw, not what the client claims", 1, "10.0.0.1, 198.51.100.1", "198.51.100.1"],
  ["takes what the outer of two proxies saw", 2, "10.0.0.1, 198.51.100.1, 203.0.113.1", "198.51.100.1"],
  ["takes the peer where the header is missing", 1, undefined, "192.0.2.7"],
  ["takes the peer where the header is too short", 2, "198.51.100.1", "192.0.2.7"],
  ["reads a bracketed IPv6 address with a port", 1, "[2001:db8:1:2::9]:4711", "2001:db8:1:2::/64"],
];
for (const [does, hops, header, counted] of FORWARDED) {
  Deno.test(`countedAddress() ${does}`, () => {
    assert.equal(countedAddress(tcp("192.0.2.7"), header, hops), counted);
  });
}
