/** Exactly once: however many agents call at one moment, a grant of n uses lets n requests out (DESIGN §9). */

import assert from "node:assert/strict";
import fc from "fast-check";
import { HANDLE, SHARED, shareHouse } from "../e2e/harness.ts";

const house = shareHouse();
let run = 0;

/** A grant of so many uses for GETs below a path of its own. */
async function grant(uses: number): Promise<{ agent: string; path: string; request_id: string }> {
  const h = house();
  const agent = `crowd ${++run}`;
  const path_prefix = `/once/${run}/`;
  const { request_id } = await h.client.call("access.request", {
    handle: HANDLE,
    reason: "a crowd",
    methods: ["GET", "POST"],
    path_prefix,
    uses,
    wait_ms: 0,
    agent: { name: agent },
  });
  await h.approve(request_id, { kind: "wanted" });
  return { agent, path: `${path_prefix}x`, request_id };
}

const REFUSED = ["needs_approval", "too_many_pending"];

Deno.test("of any number of calls at one moment a grant of n uses lets exactly n out", SHARED, async () => {
  const h = house();
  const cases = fc.record({
    uses: fc.integer({ min: 1, max: 12 }),
    calls: fc.integer({ min: 1, max: 24 }),
    method: fc.constantFrom("GET", "POST"),
    streamed: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ uses, calls, method, streamed }) => {
      const { agent, path, request_id } = await grant(uses);
      const before = await h.logSize();
      const params = { handle: HANDLE, method, url: h.api.origin + path, reason: "r", wait_ms: 0 };
      const one = async () => {
        if (!streamed) return await h.http(path, { agent, method });
        const answer = await h.client.streamHttp({ ...params, agent: { name: agent } });
        await new Response(answer.body).bytes();
        return answer.head;
      };
      const ends = await Promise.allSettled(Array.from({ length: calls }, one));
      const let_ = Math.min(uses, calls);
      assert.equal(h.api.count(path), let_);
      assert.equal(ends.filter(({ status }) => status === "fulfilled").length, let_);
      for (const end of ends) {
        if (end.status === "rejected") assert(REFUSED.includes(end.reason.kind), end.reason.kind);
        else assert.equal(end.value.request_id, request_id);
      }
      const log = (await h.log(before)).filter((leaf) => leaf.request_id === request_id);
      assert.equal(log.filter(({ event }) => event === "send_started").length, let_);
      assert.equal(log.filter(({ event }) => event === "send_finished").length, let_);
    }),
    { numRuns: 8 },
  );
});

Deno.test(
  "a grant that is taken back in the middle of a crowd lets out what the log says, and no more than n",
  SHARED,
  async () => {
    const h = house();
    const cases = fc.record({
      uses: fc.integer({ min: 1, max: 10 }),
      after: fc.integer({ min: 0, max: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ uses, after }) => {
        const { agent, path, request_id } = await grant(uses);
        const before = await h.logSize();
        let settled = 0;
        const reached = Promise.withResolvers<void>();
        const calls = Array.from({ length: 16 }, () =>
          h.http(path, { agent, method: "POST" }).finally(() => {
            if (++settled > after) reached.resolve();
          }));
        const all = Promise.allSettled(calls);
        if (after > 0) await reached.promise;
        await h.client.call("grants.revoke", { handle: HANDLE });
        const ends = await all;
        const answered = ends.filter(({ status }) => status === "fulfilled").length;
        const log = (await h.log(before)).filter((leaf) => leaf.request_id === request_id);
        const started = log.filter(({ event }) => event === "send_started").length;
        const sent = h.api.count(path);
        assert(
          answered <= sent && sent <= started && started <= uses,
          `${answered} ${sent} ${started} ${uses}`,
        );
        const ended = log.filter(({ event }) =>
          ["send_finished", "send_failed", "outcome_unknown"].includes(event)
        );
        assert.equal(ended.length, started, "each has its end in the log");
        for (const end of ends) {
          if (end.status === "rejected") {
            assert([...REFUSED, "outcome_unknown", "locked"].includes(end.reason.kind), end.reason.message);
          }
        }
      }),
      { numRuns: 8 },
    );
  },
);
