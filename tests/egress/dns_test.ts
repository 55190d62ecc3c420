/**
 * Names that lead inside (B13), end to end: the names of these tests are in a private hosts file and point to 127/8, where
 * an API counts connections. No private or metadata address of this machine's network is ever contacted.
 */

import assert from "node:assert/strict";
import { House, type HouseOptions, SHARED } from "../e2e/harness.ts";
import { StubApi } from "../e2e/harness_stub.ts";
import { failure } from "../e2e/harness_wait.ts";
import { canUnshare, daemonWithHosts } from "./private_hosts.ts";

const ignore = Deno.build.os !== "linux" || !await canUnshare();
/** An address for documentation (RFC 5737): public by its number, and nowhere. */
const NOWHERE = "192.0.2.1";

interface Scene extends AsyncDisposable {
  h: House;
  api: StubApi;
  /** Lets names point to addresses. */
  point(lines: Record<string, string[]>): Promise<void>;
  /** Stores a secret for a name at the API's port. */
  drop(name: string, host: string, private_network: boolean): Promise<string>;
  /** Approves a GET of the secret at its path, sends it, and says how that ended. */
  send(name: string, url: string): Promise<{ kind: string; message: string; id?: string } | "answered">;
}

async function scene(profile: "public" | "lan", options: HouseOptions = {}): Promise<Scene> {
  const h = await House.start({ ...options, empty: true });
  const api = new StubApi();
  const hosts = `${h.folder}/hosts`;
  const point: Scene["point"] = async (names) => {
    const lines = Object.entries(names).flatMap(([name, all]) =>
      all.map((address) => `${address} ${name}\n`)
    );
    await Deno.writeTextFile(hosts, `127.0.0.1 localhost\n${lines.join("")}`);
  };
  await point({});
  await h.daemon.stop();
  h.daemon = await daemonWithHosts({ ...h.values, profile }, h.relay_url, hosts);
  await h.pair();
  const scheme = profile === "lan" ? "http" : "https";
  return {
    h,
    api,
    point,
    async drop(name, host, private_network) {
      const origin = `${private_network ? scheme : "https"}://${host}:${new URL(api.origin).port}`;
      const { request_id } = await h.client.call("drop.request", {
        name,
        reason: "set up the test",
        wait_ms: 0,
        agent: { name: "setup" },
      });
      await h.card(request_id);
      const rules = [{ methods: ["GET" as const], path_prefix: "/" }];
      const fields = { name, origins: [origin], placement: { kind: "bearer" as const }, rules };
      const value = new TextEncoder().encode(`${name}_value_0123456789`);
      await h.phone.drop(request_id, { ...fields, max_seconds: 3_600, private_network }, value);
      return `${origin}/v1/x`;
    },
    async send(name, url) {
      const ask = { agent: "dns", handle: `custos:${name}` };
      const first = await failure(h.http(url, ask));
      if (first.kind !== "needs_approval") return first;
      await h.approve(first.id!);
      return await h.http(url, ask).then(
        () => "answered" as const,
        (error) => failure(Promise.reject(error)),
      );
    },
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await h[Symbol.asyncDispose]();
    },
  };
}

Deno.test({
  ...SHARED,
  ignore,
  name:
    "in the public profile the runtime refuses a name that leads inside, after DNS, mixed answers too (B13)",
  async fn() {
    await using s = await scene("public");
    const rows: [string, string[]][] = [
      ["one private record", ["127.0.0.1"]],
      ["another address of loopback", ["127.8.8.8"]],
      ["a private record after a public one", [NOWHERE, "127.0.0.1"]],
      ["a private record before a public one", ["127.0.0.1", NOWHERE]],
      ["nothing but zeros", ["0.0.0.0"]],
    ];
    const url = await s.drop("named", "api.example.test", false);
    for (const [what, addresses] of rows) {
      await s.point({ "api.example.test": addresses });
      const error = await s.send("named", url);
      assert(error !== "answered", what);
      assert.equal(error.kind, "private_address", `${what}: ${error.message}`);
      assert.match(error.message, /Nothing was sent/);
      assert.ok(!error.message.includes("named_value"));
      assert.equal(s.api.connections, 0, what);
      const failed = await s.h.logged("send_failed", { id: error.id! });
      assert.deepEqual(failed.map(({ why }) => why), ["private_address"], what);
    }
    await s.point({});
    const nowhere = await s.send("named", url);
    assert(nowhere !== "answered");
    assert.equal(nowhere.kind, "upstream_unreachable");
    assert.match(nowhere.message, /does not resolve/);
  },
});

Deno.test({
  ...SHARED,
  ignore,
  name: "a name that changes its address after the approval is held to the address of the moment (B13)",
  async fn() {
    await using s = await scene("public");
    const url = await s.drop("moves", "moves.example.test", false);
    await s.point({ "moves.example.test": [NOWHERE] });
    const ask = { agent: "dns", handle: "custos:moves" };
    const asked = await failure(s.h.http(url, ask));
    assert.equal(asked.kind, "needs_approval");
    await s.h.approve(asked.id!, { kind: "path" });
    for (const address of ["127.0.0.1", "127.0.0.2"]) {
      await s.point({ "moves.example.test": [address] });
      assert.equal((await failure(s.h.http(url, ask))).kind, "private_address");
    }
    assert.equal(s.api.connections, 0);
  },
});

Deno.test({
  ...SHARED,
  ignore,
  name:
    "in the lan profile a name that leads inside needs private_network, and the cell checks that itself (B13)",
  async fn() {
    await using s = await scene("lan");
    const closed = await s.drop("closed", "closed.example.test", false);
    const open = await s.drop("open", "open.example.test", true);
    for (const addresses of [["127.0.0.1"], [NOWHERE, "127.0.0.1"], ["127.0.0.1", NOWHERE], ["0.0.0.0"]]) {
      await s.point({ "closed.example.test": addresses, "open.example.test": ["127.0.0.1"] });
      const error = await s.send("closed", closed);
      assert(error !== "answered");
      assert.equal(error.kind, "private_address", `${addresses}: ${error.message}`);
    }
    assert.equal(s.api.connections, 0);
    assert.equal(await s.send("open", open), "answered");
    assert.equal(s.api.seen.length, 1);
    assert.match(s.api.seen[0]!.head, /^host: open\.example\.test:\d+\r$/mi);
    // zeros are never allowed, not even with the flag: the runtime holds both profiles to that
    await s.point({ "open.example.test": ["0.0.0.0"] });
    const zeros = await s.send("open", open);
    assert(zeros !== "answered");
    assert.equal(zeros.kind, "private_address");
    assert.equal(s.api.seen.length, 1);
  },
});
