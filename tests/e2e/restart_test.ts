/** What becomes of everything when a daemon ends, by a signal or without warning, and another begins on its state. */

import assert from "node:assert/strict";
import { SHARED, shareHouse } from "./harness.ts";
import { approvalOf } from "./harness_hostile.ts";
import { McpAgent } from "./harness_mcp.ts";
import { failure } from "./harness_wait.ts";

const house = shareHouse();

for (const [signal, reason] of [["SIGKILL", "daemon_restarted"], ["SIGTERM", "daemon_stopped"]] as const) {
  Deno.test(`a daemon restart by ${signal} withdraws what was pending and says why`, SHARED, async () => {
    const h = house();
    const path = `/restart/${signal}`;
    const asked = await h.ask(path, { agent: "restart" });
    const card = await h.card(asked.id);
    const decision = await approvalOf(h, card);
    await h.restartDaemon(signal);

    const status = await h.client.call("access.status", { request_id: asked.id });
    assert.deepEqual([status.status, status.reason, status.fingerprint], [
      "withdrawn",
      reason,
      asked.fingerprint,
    ]);
    const gone = await h.cardWhere((one) => one.message.doc.id === asked.id && one.status !== "pending");
    assert.deepEqual([gone.status, gone.reason], ["withdrawn", reason]);
    const ran = await h.custos("restart", ["wait", asked.id, "--wait", "0"]);
    assert.equal(ran.code, 4);
    assert.match(ran.stdout, /withdrawn/);
    await using mcp = await McpAgent.start(h.values, "restart");
    const { error, fields } = await mcp.call("request_access", { request_id: asked.id });
    assert.deepEqual([error, fields["status"], fields["fingerprint"]], [
      true,
      "withdrawn",
      asked.fingerprint,
    ]);

    const before = await h.logSize();
    await h.sendDecision(decision); // it was signed while the request was pending
    const refused = await h.logged("decision_refused", { after: before });
    assert.deepEqual(refused.map((leaf) => [leaf.why, leaf.request_id]), [["withdrawn", asked.id]]);
    assert.notEqual((await h.ask(path, { agent: "restart" })).id, asked.id);
    assert.equal(h.api.count(path), 0);
  });
}

Deno.test(
  "a daemon that is stopped tells the callers who wait that their request was withdrawn",
  SHARED,
  async () => {
    const h = house();
    const call = failure(h.http("/restart/waits", { agent: "waits", wait_ms: 60_000 }));
    const { message: { doc }, words } = await h.cardFor("/restart/waits");
    await h.restartDaemon("SIGTERM");
    const error = await call;
    assert.deepEqual([error.kind, error.id, error.fingerprint], ["withdrawn", doc.id, words]);
  },
);

Deno.test(
  "a request that was in flight when the daemon died is outcome_unknown and is not sent again",
  SHARED,
  async () => {
    const h = house();
    const path = "/slow/died";
    const asked = await h.ask(path, {
      agent: "died",
      method: "POST",
      body: { encoding: "utf8", data: "pay" },
    });
    await h.approve(asked.id);
    const ask = { agent: "died", method: "POST", body: { encoding: "utf8", data: "pay" } } as const;
    const call = failure(h.http(path, ask));
    await h.api.arrival(path);
    await h.daemon.stop("SIGKILL");
    assert.equal((await call).kind, "outcome_unknown");
    h.api.release();
    await h.startDaemon();

    const [unknown, ...more] = await h.logged("outcome_unknown", { id: asked.id });
    assert.deepEqual([unknown!.why, more.length], ["daemon_died", 0]);
    const status = await h.client.call("access.status", { request_id: asked.id });
    assert.deepEqual([status.status, status.reason, status.grant?.ended], [
      "granted",
      "outcome_unknown",
      true,
    ]);
    assert.notEqual((await h.ask(path, ask)).id, asked.id, "sending it again is a person's decision");
    assert.equal(h.api.count(path), 1);
    await h.restartDaemon("SIGKILL");
    assert.equal((await h.logged("outcome_unknown", { id: asked.id })).length, 1, "it is said once");
  },
);

Deno.test("a grant does not outlive the daemon that held its key", SHARED, async () => {
  const h = house();
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const path = `/restart/grant/${signal}`;
    const asked = await h.ask(path, { agent: "outlives" });
    await h.approve(asked.id, { kind: "path" });
    assert.equal((await h.http(path, { agent: "outlives" })).status_code, 200);
    await h.restartDaemon(signal);
    assert.equal((await h.client.call("grants.list", {})).grants.length, 0);
    assert.notEqual((await h.ask(path, { agent: "outlives" })).id, asked.id);
    assert.equal(h.api.count(path), 1);
  }
});

Deno.test(
  "the phone follows a daemon that dies again and again, and does not take it for another one",
  SHARED,
  async () => {
    const h = house();
    for (let i = 0; i < 4; i++) await h.restartDaemon("SIGKILL"); // it dies before it has met the phone
    const asked = await h.ask("/restart/often", { agent: "often" });
    await h.approve(asked.id);
    assert.equal((await h.http("/restart/often", { agent: "often" })).status_code, 200);
  },
);

Deno.test("a cool-down outlives the daemon", SHARED, async () => {
  const h = house();
  const asked = await h.ask("/restart/cools", { agent: "cools" });
  await h.deny(asked.id);
  const before = await failure(h.http("/restart/cools", { agent: "cools" }));
  await h.restartDaemon("SIGKILL");
  const after = await failure(h.http("/restart/cools", { agent: "another name" }));
  assert.deepEqual([after.kind, after.until_ms], ["cooling_down", before.until_ms]);
});

Deno.test("a frame of an earlier session means nothing to the daemon that runs now", SHARED, async () => {
  const h = house();
  const asked = await h.ask("/restart/frame", { agent: "frame" });
  const decision = await approvalOf(h, await h.card(asked.id));
  h.posted.length = 0;
  await h.sendDecision(decision);
  await h.logged("granted", { id: asked.id });
  const [frame] = h.posted;
  await h.restartDaemon("SIGKILL");
  const again = await h.ask("/restart/frame", { agent: "frame" });
  await h.card(again.id);
  const before = await h.logSize();
  await (await fetch(frame!.url, frame!.init)).body?.cancel();
  const refused = await h.logged("channel_refused", { after: before });
  assert.deepEqual(refused.map(({ why }) => why), ["undecipherable"]);
  assert.equal((await h.client.call("access.status", { request_id: again.id })).status, "pending");
  assert.equal(h.api.count("/restart/frame"), 0);
});

Deno.test("phone and daemon find each other again at a relay that has lost its data", SHARED, async () => {
  const h = house();
  await h.relay.stop("SIGKILL");
  await Deno.remove(h.values.relay_dir, { recursive: true });
  await h.startRelay();
  const asked = await h.ask("/restart/relay", { agent: "relay" });
  await h.approve(asked.id);
  assert.equal((await h.http("/restart/relay", { agent: "relay" })).status_code, 200);
});
