/** Approvals that come again, too late or changed on the way, and what takes one back. */

import assert from "node:assert/strict";
import { randomBytes, toBase64url } from "@custos/core/bytes";
import { S, SHARED, shareHouse } from "./harness.ts";
import { approvalOf, fileKeyOf, grantCard, touch } from "./harness_hostile.ts";
import { refuses } from "./harness_refusal.ts";

const house = shareHouse();

Deno.test("an approval counts once, however often it is sent", SHARED, async () => {
  const h = house();
  const asked = await h.ask("/once", { agent: "once" });
  const decision = await approvalOf(h, await h.card(asked.id));
  const before = await h.logSize();
  await h.sendDecision(decision);
  await h.sendDecision(decision);
  assert.ok(await h.phone.sync(10_000));
  assert.equal((await h.http("/once", { agent: "once" })).status_code, 200);
  await h.sendDecision(decision); // its grant is spent now
  assert.ok(await h.phone.sync(10_000));
  const granted = (await h.log(before)).filter(({ event }) => event === "granted");
  assert.deepEqual(granted.map(({ request_id }) => request_id), [asked.id]);
  assert.equal((await h.client.call("grants.list", {})).grants.length, 0);

  const second = await h.ask("/once", { agent: "once" });
  assert.notEqual(second.id, asked.id);
  const card = await h.card(second.id);
  const replayed = { ...decision, request_hash: card.request_hash };
  await refuses(h, card, "replayed as another's", replayed, { says: "used already" });
  assert.equal(h.api.count("/once"), 1);
});

Deno.test(
  "a frame that is posted again, or was altered, changes nothing and is logged once",
  SHARED,
  async () => {
    const h = house();
    const asked = await h.ask("/frame", { agent: "frame" });
    const decision = await approvalOf(h, await h.card(asked.id));
    h.posted.length = 0;
    await h.sendDecision(decision);
    await h.logged("granted", { id: asked.id });
    const frame = h.posted[0]!;
    await h.http("/frame", { agent: "frame" });
    const bits = Uint8Array.from(frame.init.body as Uint8Array<ArrayBuffer>);
    bits[bits.length - 20]! ^= 1;
    for (
      const [why, body] of [["replayed", frame.init.body], ["undecipherable", bits]] as [string, BodyInit][]
    ) {
      const before = await h.logSize();
      const posted = await fetch(frame.url, { ...frame.init, body });
      assert.ok(posted.ok, "the relay takes it: it knows nothing of frames");
      await posted.body?.cancel();
      await h.logged("channel_refused", { after: before });
      assert.ok(await h.phone.sync(10_000));
      const events = (await h.log(before)).filter(({ event }) => event !== "card_sent");
      assert.deepEqual(events.map((leaf) => [leaf.event, leaf.why]), [["channel_refused", why]]);
    }
    assert.notEqual((await h.ask("/frame", { agent: "frame" })).id, asked.id);
    assert.equal(h.api.count("/frame"), 1);
  },
);

Deno.test("a later denial of the same phone takes the grant back", SHARED, async () => {
  const h = house();
  const asked = await h.ask("/regret", { agent: "regret" });
  const card = await h.card(asked.id);
  await h.approve(asked.id, { kind: "path" });
  await h.sendDecision({
    t: "decision",
    decision: "deny",
    request_hash: card.request_hash,
    mute_until_ms: null,
  });
  const [ended] = await h.logged("grant_ended", { id: asked.id });
  assert.equal(ended!.why, "denied_later");
  assert.notEqual((await h.ask("/regret", { agent: "regret" })).id, asked.id);
  assert.equal(h.api.count("/regret"), 0);
});

Deno.test("what the phone sends holds neither the file key nor the secret in the clear", SHARED, async () => {
  const h = house();
  const card = await h.card((await h.ask("/clear", { agent: "clear" })).id);
  const key = await fileKeyOf(h, (await grantCard(h, card)).header);
  const text = JSON.stringify(await approvalOf(h, card));
  assert.ok(!text.includes(toBase64url(key)) && !text.includes(S));
  assert.deepEqual(Object.keys(await touch(h, randomBytes(32))).sort(), [
    "authenticator_data",
    "client_data_json",
    "credential_id",
    "signature",
  ]);
});
