import assert from "node:assert/strict";
import { SHARED, shareStage } from "./stage.ts";
const stage = shareStage();
Deno.test("smoke", SHARED, async () => {
  const s = stage();
  const t = performance.now();
  await s.recovers("/a");
  const t2 = performance.now();
  await s.restartDaemon();
  const t3 = performance.now();
  await s.verifiedLog();
  await s.recovers("/b");
  console.log(t2 - t, t3 - t2, performance.now() - t3, s.relay.calls, s.relay.frames.length);
  assert.ok(true);
});
