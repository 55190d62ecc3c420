/** A pairing code after its time (DESIGN §7, case B135). */

import assert from "node:assert/strict";
import { randomBytes } from "@custos/core/bytes";
import { until } from "../e2e/harness_wait.ts";
import { nobodyIsEnrolled, showCode, stateAfter, tryPair } from "./pairing_attempt.ts";
import { Stage } from "./stage.ts";

Deno.test("a code is worth nothing once its time is over (B135)", async () => {
  await using s = await Stage.open();
  s.preload = new URL("late.ts", import.meta.url).pathname;
  await s.startDaemon();
  const code = await showCode(s);
  await until(
    async () => (await s.relay.plant(code.boxes.to_daemon.id, randomBytes(1)).catch(() => null)),
    "no mailbox",
  );
  s.process!.kill("SIGUSR2");
  assert.equal(await stateAfter(s, code, "waiting"), "failed");
  const { reason } = await s.client.call("pair.status", { pairing_id: code.pairing_id });
  assert.equal(reason, "the time for pairing is over");
  const late = tryPair(code.url);
  setTimeout(() => late.stop(), 500);
  assert.equal(await late.end, "pairing_refused");
  assert.equal(s.relay.frames.filter(({ from }) => from === "daemon").length, 0, "nobody answered it");
  await nobodyIsEnrolled(s, late);
});
