/** How often a person is asked (DESIGN §5.2): denials cool down, and one agent cannot fill the phone (B148). */

import assert from "node:assert/strict";
import { HANDLE, type HttpAsk, SHARED, shareHouse } from "./harness.ts";
import { failure } from "./harness_wait.ts";

const house = shareHouse();

Deno.test(
  "after a denial the same thing is refused until a stated time, whatever else is varied",
  SHARED,
  async () => {
    const h = house();
    const asked = await h.ask("/no?page=1", { agent: "asks" });
    await h.deny(asked.id);
    const cards = (await h.phone.cards()).length;
    const varied: [string, HttpAsk][] = [
      ["/no?page=1", { agent: "asks" }],
      ["/no?page=2", { agent: "asks" }],
      ["/no", { agent: "somebody else", reason: "it is urgent" }],
      ["/no", { agent: "asks", headers: [["accept", "text/plain"]] }],
      ["/NO/", { agent: "asks" }],
      ["//no", { agent: "asks" }],
    ];
    const before = await h.logSize();
    const ends = new Set<number>();
    for (const [path, ask] of varied) {
      const error = await failure(h.http(path, ask));
      assert.equal(error.kind, "cooling_down", path);
      ends.add(error.until_ms!);
    }
    assert.equal(ends.size, 1, "asking again does not move the end");
    const minutes = ([...ends][0]! - Date.now()) / 60_000;
    assert.ok(minutes > 8 && minutes <= 10, `${minutes}`);
    const ran = await h.custos("asks", ["http", `${h.api.origin}/no`]);
    assert.equal(ran.code, 4);
    assert.match(ran.stderr, /cooling_down/);
    assert.ok(await h.phone.sync(10_000));
    const log = await h.log(before);
    assert.deepEqual([...new Set(log.map((leaf) => `${leaf.event} ${leaf.why}`))], [
      "request_refused cooling_down",
    ]);
    assert.equal((await h.phone.cards()).length, cards, "the phone heard nothing of it");
    for (const other of ["/no/more", "/yes"]) await h.ask(other, { agent: "asks" });
    await h.ask("/no", { agent: "asks", method: "POST" });
    assert.equal(h.api.connections, 0);
  },
);

Deno.test("a denied drop and a denied access cool down by their name and handle", SHARED, async () => {
  const h = house();
  const drop = (name: string) =>
    h.client.call("drop.request", { name, reason: "r", wait_ms: 0, agent: { name: "drops" } });
  const access = (path_prefix: string) =>
    h.client.call("access.request", {
      handle: HANDLE,
      reason: "r",
      path_prefix,
      wait_ms: 0,
      agent: { name: "drops" },
    });
  await h.deny((await drop("unwanted")).request_id);
  assert.equal((await failure(drop("unwanted"))).kind, "cooling_down");
  await drop("wanted");
  await h.deny((await access("/a")).request_id);
  assert.equal((await failure(access("/b"))).kind, "cooling_down");
});

Deno.test(
  "the ninth pending request of an agent is refused, and the ninth of another is not",
  SHARED,
  async () => {
    const h = house();
    for (let i = 1; i <= 8; i++) await h.ask(`/many/${i}`, { agent: "many" });
    const before = await h.logSize();
    const error = await failure(h.http("/many/9", { agent: "many" }));
    assert.deepEqual([error.kind, error.id], ["too_many_pending", undefined]);
    const [refused, ...more] = (await h.log(before)).filter(({ event }) => event !== "card_sent");
    assert.deepEqual([refused!.event, refused!.why, more.length], ["request_refused", "too_many_pending", 0]);
    assert.equal((await h.custos("many", ["http", `${h.api.origin}/many/9`])).code, 4);
    await h.ask("/many/9", { agent: "few" });
    assert.deepEqual(
      await h.ask("/many/8", { agent: "many" }),
      await h.ask("/many/8", { agent: "many" }),
      "joined",
    );
    const one = await h.ask("/many/1", { agent: "many" });
    await h.client.call("access.withdraw", { request_id: one.id });
    await h.ask("/many/9", { agent: "many" });
  },
);

Deno.test("an agent that was muted with a denial is not heard, and others are", SHARED, async () => {
  const h = house();
  const asked = await h.ask("/mute/1", { agent: "loud" });
  await h.card(asked.id);
  const until_ms = Date.now() + 60_000;
  await h.phone.deny(asked.id, until_ms);
  const error = await failure(h.http("/mute/2", { agent: "loud" }));
  assert.deepEqual([error.kind, error.until_ms], ["cooling_down", until_ms]);
  await h.ask("/mute/2", { agent: "quiet" });
});
