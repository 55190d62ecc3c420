/** What the daemon's clock ends: requests nobody answered, answers that come too late, grants, cool-downs. */

import assert from "node:assert/strict";
import { HANDLE, SHARED, shareHouse } from "./harness.ts";
import { failure } from "./harness_wait.ts";
import { approvalOf } from "./harness_hostile.ts";
import { McpAgent } from "./harness_mcp.ts";

const house = shareHouse({ clock: true });

Deno.test("expired carries request id and fingerprint on every path", SHARED, async () => {
  const h = house();
  await using mcp = await McpAgent.start(h.values, "expired");
  const call = failure(h.http("/expired", { agent: "expired", wait_ms: 60_000 }));
  const { message: { doc }, words } = await h.cardFor("/expired");
  const command = h.custos("expired", ["http", "--wait", "60", "--json", `${h.api.origin}/expired/cli`]);
  const second = await h.cardFor("/expired/cli");
  await h.later();

  const error = await call;
  assert.deepEqual([error.kind, error.id, error.fingerprint], ["expired", doc.id, words]);
  const status = await h.client.call("access.status", { request_id: doc.id });
  assert.deepEqual([status.status, status.fingerprint], ["expired", words]);
  const polled = await mcp.call("request_access", { request_id: doc.id });
  assert.deepEqual(
    [polled.error, polled.fields["status"], polled.fields["request_id"], polled.fields["fingerprint"]],
    [true, "expired", doc.id, words],
  );
  const ran = await command;
  assert.equal(ran.code, 4);
  const { error: told } = JSON.parse(ran.stdout);
  assert.deepEqual([told.kind, told.request_id, told.fingerprint], [
    "expired",
    second.message.doc.id,
    second.words,
  ]);
  assert.equal(h.api.count("/expired") + h.api.count("/expired/cli"), 0);
  await h.cardWhere((card) => card.message.doc.id === doc.id && card.status === "expired");
});

Deno.test(
  "an approval that comes after the request expired is refused, and nothing is sent",
  SHARED,
  async () => {
    const h = house();
    const asked = await h.ask("/too-late", { agent: "too late" });
    const card = await h.card(asked.id);
    const decision = await approvalOf(h, card); // signed in time
    await h.later();
    const before = await h.logSize();
    await h.sendDecision(decision);
    const [refused, ...more] = await h.logged("decision_refused", { after: before });
    assert.deepEqual([refused!.why, refused!.request_id, more.length], ["expired", asked.id, 0]);
    const status = await h.client.call("access.status", { request_id: asked.id });
    assert.deepEqual([status.status, status.grant], ["expired", undefined]);
    const again = await h.ask("/too-late", { agent: "too late" });
    assert.notEqual(again.id, asked.id);
    assert.equal(h.api.count("/too-late"), 0);
  },
);

Deno.test("a grant ends at its time, and the next use asks again", SHARED, async () => {
  const h = house();
  const asked = await h.ask("/timed", { agent: "timed" });
  await h.approve(asked.id, { kind: "path" });
  assert.equal((await h.http("/timed", { agent: "timed" })).request_id, asked.id);
  assert.equal((await h.http("/timed?more=1", { agent: "timed" })).request_id, asked.id);
  await h.later();
  const [ended] = await h.logged("grant_ended").then((all) =>
    all.filter((one) => one.request_id === asked.id)
  );
  assert.equal(ended?.why, "expired");
  const next = await h.ask("/timed", { agent: "timed" });
  assert.notEqual(next.id, asked.id);
  assert.equal(h.api.seen.filter(({ path }) => path.startsWith("/timed")).length, 2);
});

Deno.test("a cool-down ends at its time and doubles at the next denial", SHARED, async () => {
  const h = house();
  const lengths: number[] = [];
  for (const agent of ["cools once", "cools twice"]) {
    const asked = await h.ask("/cools", { agent });
    await h.deny(asked.id);
    const refused = await failure(h.http("/cools", { agent }));
    assert.equal(refused.kind, "cooling_down");
    const [denied] = await h.logged("denied", { id: asked.id });
    lengths.push(Math.round((refused.until_ms! - denied!.time_ms) / 60_000));
    await h.later();
  }
  assert.deepEqual(lengths, [10, 20]);
  const access = await h.client.call("access.request", {
    handle: HANDLE,
    reason: "something else is not cooled down",
    wait_ms: 0,
    agent: { name: "cools once" },
  });
  assert.equal(access.status, "pending");
});
