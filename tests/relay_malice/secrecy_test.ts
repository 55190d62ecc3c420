/**
 * What a relay learns, and what it is good for in the hands of an agent (DESIGN §2, cases B134, B137, B153). Sizes and times,
 * and nothing that can be read or used.
 */

import assert from "node:assert/strict";
import { PADDED_BYTES, readHead } from "@custos/core/frame";
import { filesBelow } from "../e2e/harness_files.ts";
import { leaks } from "../e2e/harness_leaks.ts";
import { HANDLE, NAME, S, SHARED, shareStage } from "./stage.ts";

const stage = shareStage();

/** Bytes of a frame beside its padded plaintext: head, nonce, and the tag of AES-GCM. */
const OVERHEAD = 42 + 12 + 16;

Deno.test(
  "no relay traffic and no file of the relay holds a URL, a reason, a name, the words or the secret (B134)",
  SHARED,
  async () => {
    const s = stage();
    const reason = "pay the invoice of Example & Sons";
    const body = { encoding: "utf8", data: "amount=4711&to=example" } as const;
    const { id, fingerprint } = await s.ask("/very/private?token=query-value", {
      agent: "secret agent",
      reason,
      body,
    });
    await s.approve(id);
    const answer = await s.http("/very/private?token=query-value", { agent: "secret agent", reason, body });
    assert.equal(answer.status_code, 200);
    await s.phone!.sync(5_000);

    const inside = [
      ...[S, NAME, HANDLE, reason, "secret agent", "/very/private", "query-value", body.data, fingerprint],
      ...["test computer", "software phone", "granted", "decision", "bearer"],
      new URL(s.api.origin).host,
    ];
    const latin1 = new TextDecoder("latin1");
    const traffic = [...s.relay.seen, ...s.relay.frames.map(({ data }) => latin1.decode(data))];
    const files = await filesBelow(s.relay.folder);
    assert.ok(traffic.length > 50 && files.size > 0);
    for (const value of inside) {
      for (const text of traffic) assert.deepEqual(leaks(text, value), [], `${value} in the relay's traffic`);
      for (const [path, text] of files) assert.deepEqual(leaks(text, value), [], `${value} in ${path}`);
    }
  },
);

Deno.test("the length of a frame says only which of six sizes it has", SHARED, async () => {
  const s = stage();
  const at = s.relay.frames.length;
  for (const length of [1, 40, 80]) {
    const { id } = await s.ask(`/length/${length}`, {
      agent: `length ${length}`,
      reason: "x".repeat(length),
    });
    await s.card(id);
    await s.phone!.deny(id).catch(() => {});
  }
  const framed = s.relay.frames.filter(({ data }) => readHead(data) !== null);
  assert.ok(framed.every(({ data }) => PADDED_BYTES.includes(data.length - OVERHEAD)));
  const cards = framed.slice(at).filter(({ from, data }) => from === "daemon" && data.length > 4_096);
  assert.equal(
    new Set(cards.map(({ data }) => data.length)).size,
    1,
    "three reasons of different lengths, one size",
  );
});

Deno.test(
  "an agent that owns the relay cannot use the approval of one request for another (B132, B143)",
  SHARED,
  async () => {
    const s = stage();
    const ask = { agent: "colluding" };
    const first = await s.ask("/collude", ask);
    await s.card(first.id);
    const at = s.relay.frames.length;
    await s.approve(first.id);
    const approval = s.relay.frames.slice(at).filter(({ from }) => from === "phone");
    assert.equal((await s.http("/collude", ask)).status_code, 200);

    const again = await s.ask("/collude", ask); // the very same request, which the agent would like for free
    assert.notEqual(again.id, first.id);
    assert.notEqual(again.fingerprint, first.fingerprint);
    await s.card(again.id);
    for (const { mailbox, data } of approval) await s.relay.plant(mailbox, data);
    // It knows ids and tokens of the mailboxes too, and can post whatever it likes.
    const seen = s.relay.seen.findLast((line) =>
      line.startsWith("POST") && line.includes(approval[0]!.mailbox)
    )!;
    const [, url] = seen.split("\n")[0]!.split(" ");
    const authorization = /authorization,(Bearer \S+)/.exec(seen)![1]!;
    for (const forged of ['{"t":"decision","decision":"grant"}', "\x01\x03" + "x".repeat(400)]) {
      const headers = { authorization, "content-type": "application/octet-stream" };
      const posted = await fetch(url!, { method: "POST", headers, body: new TextEncoder().encode(forged) });
      await posted.body?.cancel();
      assert.equal(posted.status, 201, "the relay takes it: it knows nothing of frames");
    }
    assert.ok(await s.phone!.sync(10_000));
    assert.equal(await s.status(again.id), "pending");
    assert.equal((await s.client.call("grants.list", {})).grants.length, 0);
    assert.equal(s.api.count("/collude"), 1);
    const { alarm, channel } = await s.phone!.record();
    assert.deepEqual([alarm, channel.locked], [null, null]);
    await s.phone!.deny(again.id);
    await s.recovers("/after-collusion");
  },
);
