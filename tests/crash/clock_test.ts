/** A computer whose clock is set, or which slept (cases B146, B165). */

import assert from "node:assert/strict";
import { failure, until } from "../e2e/harness_wait.ts";
import { SHARED, Stage } from "../relay_malice/stage.ts";

const GET = { method: "GET", body: undefined } as const;

Deno.test(
  "a clock that jumps ahead ends what is over, and one that jumps back brings nothing to life (B146, B165)",
  SHARED,
  async () => {
    await using s = await Stage.open();
    s.preload = new URL("jumping_clock.ts", import.meta.url).pathname;
    await s.startDaemon();
    await s.settle();
    const jump = () => s.process!.kill("SIGUSR2");
    const offset = async () => await s.phone!.sync(5_000) ? (await s.phone!.record()).clock_offset_ms : 0;

    const pending = await s.ask("/clock/pending");
    await s.card(pending.id);
    const granted = await s.ask("/clock/granted", GET);
    await s.card(granted.id);
    await s.phone!.approve(granted.id, { kind: "path" });
    assert.equal((await s.http("/clock/granted", GET)).status_code, 200);
    const denied = await s.ask("/clock/denied", { agent: "denied" });
    await s.card(denied.id);
    await s.phone!.deny(denied.id);

    const isOver = async () =>
      await s.status(pending.id) === "expired" &&
        (await s.client.call("grants.list", {})).grants.length === 0 || null;
    jump(); // 20 minutes ahead
    await until(isOver, "It did not end.");
    assert.equal(
      (await failure(s.http("/clock/granted", { ...GET, agent: "later" }))).kind,
      "needs_approval",
    );

    jump(); // 40 minutes back
    await until(async () => await offset() < 0 || null, "The clock did not jump.");
    assert.ok(await isOver());
    assert.equal(
      (await failure(s.http("/clock/granted", { ...GET, agent: "earlier" }))).kind,
      "needs_approval",
    );
    assert.equal((await failure(s.http("/clock/denied", { agent: "denied" }))).kind, "cooling_down");
    assert.equal(s.api.count("/clock/granted"), 1);

    // A phone whose clock is right still approves: it shows that clocks differ, and refuses nothing by its own.
    await s.recovers("/clock/works");
    const { clock_offset_ms } = await s.phone!.record();
    assert.ok(Math.abs(clock_offset_ms) > 15 * 60_000);
  },
);

Deno.test(
  "a computer that sleeps while the person approves carries the approval out when it wakes (B141, B165)",
  SHARED,
  async () => {
    await using s = await Stage.open();
    await s.startDaemon();
    await s.settle();
    const { id } = await s.ask("/asleep");
    await s.card(id);
    s.process!.kill("SIGSTOP");
    const approving = s.phone!.approve(id);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal(s.api.count("/asleep"), 0);
    s.process!.kill("SIGCONT");
    assert.equal((await approving).status, "granted");
    assert.equal((await s.http("/asleep")).status_code, 200);
    assert.equal(s.api.count("/asleep"), 1);
  },
);
