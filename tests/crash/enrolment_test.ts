/** The one moment of pairing at which both sides could think differently: the daemon has enrolled, the phone does not know. */

import assert from "node:assert/strict";
import { soon } from "../e2e/harness_wait.ts";
import { SHARED, Stage } from "../relay_malice/stage.ts";

for (const side of ["before", "after"] as const) {
  Deno.test(
    `a daemon that dies ${side} the relay has its last word of a pairing is found by the phone again`,
    SHARED,
    async () => {
      await using s = await Stage.open();
      await s.startDaemon();
      const restarted = Promise.withResolvers<void>();
      let struck = false;
      s.relay.act = async (passing) => {
        if (struck || passing.from !== "daemon" || passing.kind !== "post") return await passing.pass();
        const { devices } = await s.client.call("devices.list", {});
        if (devices.length === 0) return await passing.pass();
        struck = true; // this is the answer to `register`: everything is on the disk
        const response = side === "after" ? await passing.pass() : new Response(null, { status: 503 });
        s.restartDaemon().then(restarted.resolve, restarted.reject);
        return response;
      };
      await soon(s.pair().catch(() => {})); // the terminal loses its daemon, and with it what it waited for
      await restarted.promise;
      const { devices } = await s.client.call("devices.list", {});
      assert.equal(devices.length, 1);
      assert.ok(await s.phone!.sync(10_000));
      const { device, channel, alarm } = await s.phone!.record();
      assert.deepEqual([device, channel.locked, alarm], [devices[0]!.device, null, null]);
      await s.dropSecret("demo-key", "tok_live_4f9c2a7e");
      await s.recovers("/after-pairing");
    },
  );
}
