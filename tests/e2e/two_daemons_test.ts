/** Two daemons under one name (DESIGN §7): a copy of the state is noticed, and then nobody is believed. */

import assert from "node:assert/strict";
import { placesIn } from "@custos/tools/paths";
import { House } from "./harness.ts";
import { copyFolder } from "./harness_files.ts";
import { until } from "./harness_wait.ts";

Deno.test("a handshake under a superseded key locks the phone's channel, and nothing is approved any more", async () => {
  await using h = await House.start();
  const copy = await Deno.makeTempDir({ prefix: "custos-e2e-" });
  const values = {
    ...placesIn(copy, { relay_port: 0, profile: "lan" }),
    relay_socket: h.values.relay_socket,
  };
  try {
    await h.daemon.stop();
    await Deno.mkdir(values.socket.replace(/\/[^/]+$/, ""), { mode: 0o700 });
    await copyFolder(h.values.daemon_dir, values.daemon_dir);
    await h.startDaemon();
    const asked = await h.ask("/two", { agent: "two" });
    await h.card(asked.id); // the new session has proved itself: the copy's key is superseded now
    const before = await h.logSize();

    const thief = await h.newDaemon(values);
    try {
      const locked = await until(
        async () => (await h.phone.record()).channel.locked,
        "The phone did not lock.",
      );
      assert.equal(locked, "superseded_handshake");
      const refused = async () =>
        (await h.log(before)).filter(({ event, why }) =>
          event === "channel_refused" && why === "superseded_handshake"
        );
      await until(async () => (await refused()).length > 0 || null, "The daemon did not record the lock.");
      assert.equal((await refused()).length, 1);
      const [touches, posted] = [h.authenticator.touches, h.posted.length];
      await assert.rejects(h.phone.approve(asked.id), { kind: "locked", message: /Two daemons claim/ });
      await assert.rejects(h.phone.deny(asked.id), { kind: "locked" });
      assert.deepEqual([h.authenticator.touches, h.posted.length], [touches, posted]);
    } finally {
      await thief.stop();
    }
    const status = await h.client.call("access.status", { request_id: asked.id });
    assert.deepEqual([status.status, status.grant], ["pending", undefined]);
    assert.ok((await h.log(before)).every(({ event }) => event !== "granted"));
    assert.equal(h.api.connections, 0);
  } finally {
    await Deno.remove(copy, { recursive: true });
  }
});
