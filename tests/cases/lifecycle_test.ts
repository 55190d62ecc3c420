/** CASES M: daemons that start, meet each other, and stop. Installing and removing is tested in `_tools/install`. */

import assert from "node:assert/strict";
import { placesIn } from "@custos/tools/paths";
import { House } from "../e2e/harness.ts";
import { custos } from "../e2e/harness_process.ts";

Deno.test("of two daemons that start at the same moment exactly one stays, and the other says why (B182)", async () => {
  await using h = await House.start({ empty: true });
  await h.daemon.stop("SIGKILL");
  assert.ok(Deno.lstatSync(h.values.socket).isSocket, "it was left behind");
  const both = await Promise.allSettled([h.newDaemon(h.values), h.newDaemon(h.values)]);
  const [winner, ...others] = both.filter((one) => one.status === "fulfilled").map((one) => one.value);
  const losers = both.filter((one) => one.status === "rejected");
  if (winner !== undefined) h.daemon = winner;
  for (const other of others) await other.stop();
  assert.deepEqual([winner !== undefined, losers.length], [true, 1]);
  assert.match(String(losers[0]!.reason), /Another (custos )?daemon/);
  assert.equal((await h.custos("after", ["status"])).code, 0, "the one that stayed answers");
});

Deno.test("the daemon stops at SIGHUP as at SIGTERM: who waits is told, the socket is gone, code 0 (B185)", async () => {
  await using h = await House.start({ empty: true });
  await h.pair();
  // one call that asks and waits: once the card is there, it waits
  const waiting = h.client.call("drop.request", {
    name: "key",
    reason: "x",
    wait_ms: 60_000,
    agent: { name: "waits" },
  });
  await h.cardWhere(({ message }) => message.doc.type === "drop");
  const { code, stderr } = await h.daemon.stop("SIGHUP");
  assert.deepEqual([code, stderr], [0, ""]);
  assert.throws(() => Deno.lstatSync(h.values.socket), Deno.errors.NotFound);
  assert.equal((await waiting).status, "withdrawn");
  await h.startDaemon();
});

Deno.test("two state folders are two daemons, a flag wins over the variable, and status says which one it is (B191)", async () => {
  await using one = await House.start({ empty: true });
  await using two = await House.start({ empty: true });
  const folder = async (house: House, args: string[], socket: string) => {
    const ran = await custos(house.values, "who", ["status", "--json", ...args], {
      env: { CUSTOS_SOCKET: socket },
    });
    assert.equal(ran.code, 0, ran.stderr);
    return JSON.parse(ran.stdout).state_dir;
  };
  assert.equal(await folder(one, [], one.values.socket), one.values.daemon_dir);
  assert.equal(await folder(two, [], two.values.socket), two.values.daemon_dir);
  const flagged = await folder(two, ["--socket", two.values.socket], one.values.socket);
  assert.equal(flagged, two.values.daemon_dir);
});

Deno.test("a socket path that is too long is refused before anything is made, with the limit (B184)", () => {
  const deep = `/home/${"é".repeat(60)}/state folder`;
  assert.throws(() => placesIn(deep), /has 155 bytes; systems allow 103/);
  assert.equal(placesIn("/tmp/a folder").socket, "/tmp/a folder/run/custos.sock");
});
