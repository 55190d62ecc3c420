/** The one moment of pairing at which both sides could think differently: the daemon has enrolled, the phone does not know. */

import assert from "node:assert/strict";
import { soon } from "../e2e/harness_wait.ts";
import { NAME, S, SHARED, Stage } from "../relay_malice/stage.ts";

const ROWS: [name: string, dies: boolean, arrives: boolean][] = [
  ["a daemon that dies before the relay has its last word of a pairing", true, false],
  ["a daemon that dies after the relay has its last word of a pairing", true, true],
  ["a daemon whose last word of a pairing is lost at the relay", false, false],
];

for (const [name, dies, arrives] of ROWS) {
  Deno.test(`${name} is found by the phone again`, SHARED, async () => {
    await using s = await Stage.open();
    await s.startDaemon();
    const over = Promise.withResolvers<void>();
    let struck = false;
    s.relay.act = async (passing) => {
      if (struck || passing.from !== "daemon" || passing.kind !== "post") return await passing.pass();
      const { devices } = await s.client.call("devices.list", {});
      if (devices.length === 0) return await passing.pass();
      struck = true; // this is the answer to `register`: everything is on the disk
      const response = arrives ? await passing.pass() : new Response(null, { status: 503 });
      if (dies) s.restartDaemon().then(over.resolve, over.reject);
      else over.resolve();
      return response;
    };
    await soon(s.pair().catch(() => {})); // the terminal may lose its daemon, and with it what it waited for
    await over.promise;
    const { devices } = await s.client.call("devices.list", {});
    assert.equal(devices.length, 1);
    assert.ok(await s.phone!.sync(10_000));
    const { device, channel, alarm } = await s.phone!.record();
    assert.deepEqual([device, channel.locked, alarm], [devices[0]!.device, null, null]);
    await s.dropSecret(NAME, S);
    await s.recovers("/after-pairing");
  });
}
