import assert from "node:assert/strict";
import { CustosError, type ErrorKind } from "@custos/core/errors";
import { FATIGUE } from "@custos/core/fatigue";
import { FatigueStore } from "./fatigue_store.ts";
import { RequestStore } from "./request_store.ts";
import { httpDoc, newRequest } from "./testdata/requests.ts";
import { withState } from "./testdata/state.ts";

function kindOf(work: () => void): ErrorKind | "allowed" {
  try {
    work();
    return "allowed";
  } catch (error) {
    assert.ok(error instanceof CustosError, String(error));
    return error.kind;
  }
}

async function fill(
  requests: RequestStore,
  count: number,
  agent: string,
  status: "pending" | "expired",
): Promise<void> {
  for (let i = 0; i < count; i++) {
    const row = await newRequest(httpDoc({ agent: { name: agent, client: null } }));
    requests.insert({ ...row, coalesce_key: `${agent}${i}` });
    if (status !== "pending") requests.end(row.doc.id, status, null, null);
  }
}

Deno.test("FatigueStore.check() holds the limits for one agent and for all of them (B148)", async () => {
  const rows: [string, number, string, "pending" | "expired", ErrorKind | "allowed"][] = [
    ["below the limit of one agent", FATIGUE.pending_per_agent - 1, "a", "pending", "allowed"],
    ["at the limit of one agent", FATIGUE.pending_per_agent, "a", "pending", "too_many_pending"],
    ["at the limit of another agent", FATIGUE.pending_per_agent, "b", "pending", "allowed"],
    ["below the cards of an hour", FATIGUE.cards_per_hour_per_agent - 1, "a", "expired", "allowed"],
    ["at the cards of an hour", FATIGUE.cards_per_hour_per_agent, "a", "expired", "too_many_pending"],
    [
      "at the total of an hour, under other names",
      FATIGUE.cards_per_hour_total,
      "b",
      "expired",
      "too_many_pending",
    ],
  ];
  for (const [what, count, agent, status, expected] of rows) {
    await withState(async ({ db }) => {
      const requests = new RequestStore(db);
      await fill(requests, count, agent, status);
      assert.equal(kindOf(() => new FatigueStore(db).check("a", "key", Date.now())), expected, what);
    });
  }
});

Deno.test("FatigueStore.denied() cools the same thing down, doubling, whoever asks; an approval forgets it", () =>
  withState(({ db }) => {
    const fatigue = new FatigueStore(db);
    const now = 1_000_000;
    fatigue.denied("thing", now);
    const rows: [string | null, string, number, ErrorKind | "allowed"][] = [
      ["agent", "thing", now + 1, "cooling_down"],
      ["other name", "thing", now + 1, "cooling_down"],
      [null, "thing", now + FATIGUE.cool_down_ms - 1, "cooling_down"],
      ["agent", "thing", now + FATIGUE.cool_down_ms, "allowed"],
      ["agent", "other thing", now + 1, "allowed"],
    ];
    for (const [agent, key, at, expected] of rows) {
      assert.equal(kindOf(() => fatigue.check(agent, key, at)), expected, `${agent} ${key} ${at}`);
    }
    fatigue.denied("thing", now);
    assert.equal(
      kindOf(() => fatigue.check("agent", "thing", now + 2 * FATIGUE.cool_down_ms - 1)),
      "cooling_down",
    );
    fatigue.granted("thing");
    assert.equal(kindOf(() => fatigue.check("agent", "thing", now + 1)), "allowed");
  }));

Deno.test("FatigueStore.check() tells when a cool-down ends", () =>
  withState(({ db }) => {
    const fatigue = new FatigueStore(db);
    fatigue.denied("thing", 5_000);
    assert.throws(
      () => fatigue.check(null, "thing", 6_000),
      (error) => error instanceof CustosError && error.until_ms === 5_000 + FATIGUE.cool_down_ms,
    );
  }));

Deno.test("FatigueStore.mute() silences one agent, the nameless one, or all", () =>
  withState(({ db }) => {
    const fatigue = new FatigueStore(db);
    fatigue.mute("loud", false, 10_000);
    assert.equal(kindOf(() => fatigue.check("loud", "k", 9_999)), "cooling_down");
    assert.equal(kindOf(() => fatigue.check("quiet", "k", 9_999)), "allowed");
    assert.equal(kindOf(() => fatigue.check("loud", "k", 10_000)), "allowed");
    fatigue.mute(null, false, 10_000);
    assert.equal(kindOf(() => fatigue.check(null, "k", 9_999)), "cooling_down");
    fatigue.mute(null, true, 10_000);
    assert.equal(kindOf(() => fatigue.check("quiet", "k", 9_999)), "cooling_down");
  }));
