/**
 * A relay that does not deliver what it was given: it drops, holds back, repeats, swaps, cuts, alters, replays and forks
 * (cases B132, B134, B141, B145, B146). The worst that comes of it is that nothing happens. A refused frame changes nothing,
 * and as soon as the relay is honest again, phone and daemon go on where they were.
 */

import assert from "node:assert/strict";
import { randomBytes } from "@custos/core/bytes";
import { soon, until } from "../e2e/harness_wait.ts";
import type { Frame, Passing } from "./hostile_relay.ts";
import { SHARED, shareStage, type Stage } from "./stage.ts";

const stage = shareStage();
Deno.test.beforeEach(() => stage().relay.behave());

/** Where the frames of the pair go. */
async function boxes(s: Stage): Promise<{ to_daemon: string; to_phone: string }> {
  const { to_daemon, to_phone } = await s.phone!.record();
  return { to_daemon: to_daemon.id, to_phone: to_phone.id };
}

/** What must not change by a frame that is refused. */
async function snapshot(s: Stage) {
  const { client } = s;
  const { requests } = await client.call("requests.list", {});
  const { handles } = await client.call("handles.list", {});
  const { devices } = await client.call("devices.list", {});
  const { grants } = await client.call("grants.list", {});
  return {
    requests: requests.map(({ request_id, status }) => [request_id, status]),
    handles,
    devices: devices.map(({ device, name }) => [device, name]),
    grants: grants.map(({ grant_id, uses_left }) => [grant_id, uses_left]),
    connections: s.api.connections,
  };
}

/** Waits until the daemon has read everything that is in its mailbox, by asking it something through the phone. */
async function digested(s: Stage): Promise<void> {
  await until(async () => await s.phone!.sync(5_000) || null, "The daemon does not read any more.");
}

/** The phone's approval of a request as the frames that carried it, which never arrived. */
async function interceptedApproval(s: Stage, id: string): Promise<Frame[]> {
  await s.card(id);
  await digested(s);
  const at = s.relay.frames.length;
  const swallow = (passing: Passing) =>
    passing.from === "phone" && passing.kind === "post"
      ? Response.json({ seq: 1, expires_ms: 1 })
      : passing.pass();
  s.relay.act = swallow;
  const approving = s.phone!.approve(id);
  approving.catch(() => {});
  const frames = () => s.relay.frames.slice(at).filter(({ from }) => from === "phone");
  await until(() => Promise.resolve(frames().length > 0 || null), "The phone sent no approval.");
  return frames();
}

Deno.test(
  "an approval that comes again, at once, later, reversed or after a restart, sends nothing more (B132)",
  SHARED,
  async () => {
    const s = stage();
    const { id } = await s.ask("/replayed");
    await s.card(id);
    const at = s.relay.frames.length;
    await s.approve(id);
    assert.equal((await s.http("/replayed")).status_code, 200);
    const { to_daemon, to_phone } = await boxes(s);
    const recorded = s.relay.frames.slice(at);
    const again = async (frames: Frame[]) => {
      for (const { mailbox, data } of frames) await s.relay.plant(mailbox, data);
      await digested(s);
    };
    const before = await snapshot(s);
    const size = await s.logSize();
    await again(recorded.filter(({ mailbox }) => mailbox === to_daemon));
    await again(
      [...recorded].reverse().filter(({ mailbox }) => mailbox === to_daemon || mailbox === to_phone),
    );
    assert.deepEqual(await snapshot(s), before);
    const refused = (await s.events(size)).filter(({ event }) => event === "channel_refused");
    assert.ok(refused.length > 0 && refused.every(({ why }) => why === "replayed"));

    await s.restartDaemon();
    const second = await s.ask("/replayed");
    await s.card(second.id);
    await again(recorded);
    assert.equal(await s.status(second.id), "pending");
    assert.equal(s.api.count("/replayed"), 1);
    await s.phone!.deny(second.id);
  },
);

Deno.test(
  "an approval that the relay keeps to itself sends nothing, and counts once it comes (B134)",
  SHARED,
  async () => {
    const s = stage();
    const { id } = await s.ask("/kept");
    await interceptedApproval(s, id);
    assert.equal(await s.status(id), "pending");
    assert.equal(s.api.count("/kept"), 0);
    s.relay.behave(); // the phone sends its decision again until it hears of it
    await until(async () => await s.status(id) === "granted" || null, "The approval did not come through.");
    assert.equal((await s.http("/kept")).status_code, 200);
    assert.equal(s.api.count("/kept"), 1);
  },
);

Deno.test(
  "an approval of which anything was altered or cut off changes nothing (B134)",
  SHARED,
  async () => {
    const s = stage();
    const { id } = await s.ask("/altered");
    const [frame] = await interceptedApproval(s, id);
    const inbox = frame!.mailbox;
    const before = await snapshot(s);
    const size = await s.logSize();
    const { data } = frame!;
    const step = Math.max(1, Math.floor(data.length / 80));
    for (let at = 0; at < data.length; at += at < 80 ? 1 : step) {
      const flipped = Uint8Array.from(data);
      flipped[at]! ^= 1 << (at % 8);
      await s.relay.plant(inbox, flipped);
    }
    for (const length of [1, 41, 42, 53, 54, 69, 70, 300, data.length - 1]) {
      await s.relay.plant(inbox, data.slice(0, length));
    }
    for (const more of [Uint8Array.of(0), randomBytes(64)]) {
      await s.relay.plant(inbox, Uint8Array.from([...data, ...more]));
    }
    await s.relay.plant(
      inbox,
      new TextEncoder().encode(JSON.stringify({ t: "decision", decision: "grant" })),
    );
    await s.relay.plant(inbox, new Uint8Array(128 * 1024).fill(1));
    await drained(s, inbox);
    assert.deepEqual(await snapshot(s), before);
    const events = (await s.events(size)).filter(({ event }) => event !== "card_sent");
    assert.deepEqual(
      new Set(events.map(({ event, why }) => `${event} ${why}`)),
      new Set(["channel_refused undecipherable"]),
    );
    assert.ok(events.length <= 20, "a flood of refused frames does not fill the log");
    s.relay.behave();
    await until(
      async () => await s.status(id) === "granted" || null,
      "The honest approval did not come through.",
    );
    assert.equal((await s.http("/altered")).status_code, 200);
  },
);

/** Resolves when the daemon asks for what comes after everything that is in the mailbox. */
async function drained(s: Stage, mailbox: string): Promise<void> {
  const { act } = s.relay;
  const all = Promise.withResolvers<void>();
  s.relay.act = async (passing) => {
    const { from, kind, request } = passing;
    if (from === "daemon" && kind === "read" && passing.mailbox === mailbox) {
      const after = Number(new URL(request.url).searchParams.get("after"));
      if (await s.relay.holds(mailbox, after) === 0) all.resolve();
    }
    return await act(passing);
  };
  await soon(all.promise);
  s.relay.act = act;
}

Deno.test(
  "frames of a whole day ago, from before many restarts, are refused by both sides and lock nothing (B132)",
  SHARED,
  async () => {
    const s = stage();
    const yesterday = [...s.relay.frames];
    for (let i = 0; i < 2; i++) {
      await s.restartDaemon();
      await digested(s);
    }
    const before = await snapshot(s);
    const { channel: { generation, locked } } = await s.phone!.record();
    const { to_daemon, to_phone } = await boxes(s);
    for (const { mailbox, data } of yesterday) {
      if (mailbox === to_daemon || mailbox === to_phone) await s.relay.plant(mailbox, data);
    }
    await digested(s);
    assert.deepEqual(await snapshot(s), before);
    const { channel, alarm } = await s.phone!.record();
    assert.deepEqual([channel.generation, channel.locked, alarm], [generation, locked, null]);
    await s.recovers("/after-yesterday");
  },
);

Deno.test(
  "frames in another order, and each of them twice, come to the same end (B134)",
  SHARED,
  async () => {
    const s = stage();
    const held: Passing[] = [];
    s.relay.act = async (passing) => {
      if (passing.kind !== "post") return await passing.pass();
      held.push(passing);
      if (held.length % 3 !== 0) return Response.json({ seq: held.length, expires_ms: 1 });
      for (const one of held.splice(0).reverse()) {
        await s.relay.plant(one.mailbox, one.data);
        await s.relay.plant(one.mailbox, one.data);
      }
      return Response.json({ seq: 1, expires_ms: 1 });
    };
    const { id } = await s.ask("/reordered");
    const poke = setInterval(() => s.phone!.sync(100).catch(() => false), 150); // else the last two are held for ever
    try {
      // A list of what is pending that is older than the card ends it on the phone, until the next list names it.
      const approve = async () => {
        await s.card(id);
        const answer = await s.phone!.approve(id).catch(() => null);
        return answer?.status === "granted" || await s.status(id) === "granted" ? true : null;
      };
      await until(approve, "The approval did not come through.");
    } finally {
      clearInterval(poke);
    }
    s.relay.behave();
    assert.equal((await s.http("/reordered")).status_code, 200);
    assert.equal(s.api.count("/reordered"), 1);
    await s.recovers("/after-reorder");
  },
);

Deno.test("frames that are put into the wrong mailbox are refused there (B134)", SHARED, async () => {
  const s = stage();
  const { id } = await s.ask("/swapped");
  await s.card(id);
  const { to_daemon, to_phone } = await boxes(s);
  const swap = new Map([[to_daemon, to_phone], [to_phone, to_daemon]]);
  const before = await snapshot(s);
  const record = await s.phone!.record();
  for (const { mailbox, data } of s.relay.frames.slice(-30)) {
    const there = swap.get(mailbox);
    if (there !== undefined) await s.relay.plant(there, data);
  }
  await digested(s);
  assert.deepEqual(await snapshot(s), before);
  const after = await s.phone!.record();
  assert.deepEqual([after.cards.length, after.alarm, after.channel.locked], [
    record.cards.length,
    null,
    null,
  ]);
  await s.phone!.deny(id);
  await s.recovers("/after-swap");
});

Deno.test(
  "an approval that the relay holds back until the request is over sends nothing (B146)",
  SHARED,
  async () => {
    const s = stage();
    const { id } = await s.ask("/late");
    const [frame] = await interceptedApproval(s, id);
    await s.client.call("access.withdraw", { request_id: id });
    await s.relay.plant(frame!.mailbox, frame!.data);
    s.relay.behave();
    await digested(s);
    assert.equal(await s.status(id), "withdrawn");
    assert.equal((await s.client.call("grants.list", {})).grants.length, 0);
    assert.equal(s.api.count("/late"), 0);
    const card = await until(async () => {
      const found = (await s.phone!.cards()).find((one) => one.message.doc.id === id);
      return found?.status === "withdrawn" ? found : null;
    }, "The phone was not told.");
    assert.equal(card.status, "withdrawn");
  },
);
