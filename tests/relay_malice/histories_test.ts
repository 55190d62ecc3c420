/** A relay that tells phone and daemon different things, or the same thing for ever (cases B134 and B171). */

import assert from "node:assert/strict";
import type { Bytes } from "@custos/core/bytes";
import { until } from "../e2e/harness_wait.ts";
import { SHARED, shareStage } from "./stage.ts";

const stage = shareStage();
Deno.test.beforeEach(() => stage().relay.behave());

Deno.test(
  "a relay that shows phone and daemon different histories makes neither believe something false",
  SHARED,
  async () => {
    const s = stage();
    const to_phone = (await s.phone!.record()).to_phone.id;
    const [one, two] = [await s.ask("/fork/1"), await s.ask("/fork/2")];
    await s.card(two.id);
    // From here on each read shows one of two pasts, turn by turn, under numbers that both have.
    const pasts: Bytes[][] = [[], []];
    s.relay.frames.filter(({ mailbox }) => mailbox === to_phone).slice(-40).forEach(({ data }, i) => {
      pasts[i % 2]!.push(data);
    });
    let reads = 0;
    s.relay.act = (passing) => {
      if (passing.kind !== "read" || passing.mailbox !== to_phone || reads > 8) return passing.pass();
      const past = pasts[reads++ % 2]!;
      const messages = past.map((data, i) => ({
        seq: i + 1,
        posted_ms: 1,
        data: data.toBase64({ alphabet: "base64url", omitPadding: true }),
      }));
      return Response.json({ messages });
    };
    await until(() => Promise.resolve(reads > 8 || null), "The phone does not read any more.");
    s.relay.behave();
    await s.approve(two.id);
    assert.equal(await s.status(one.id), "pending");
    assert.equal((await s.http("/fork/2")).status_code, 200);
    assert.equal(s.api.count("/fork/1"), 0);
    const { alarm, channel } = await s.phone!.record();
    assert.deepEqual([alarm, channel.locked], [null, null]);
    await s.phone!.deny(one.id);
  },
);

Deno.test(
  "a relay that claims enormous numbers, or gives the same page for ever, is not read in a tight loop (B171)",
  SHARED,
  async () => {
    const s = stage();
    const messages = [{ seq: Number.MAX_SAFE_INTEGER, posted_ms: 0, data: "AAAA" }];
    s.relay.act = (passing) => passing.kind === "read" ? Response.json({ messages }) : passing.pass();
    const before = { ...s.relay.calls };
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const calls = { daemon: s.relay.calls.daemon - before.daemon, phone: s.relay.calls.phone - before.phone };
    assert.ok(calls.daemon < 25 && calls.phone < 25, JSON.stringify(calls));
    await s.recovers("/after-flood");
  },
);
