import assert from "node:assert/strict";
import { Connection, type ConnectionState } from "@custos/pwa";
import { TEXT_KEEPER } from "./text_keeper.ts";
import { withPair } from "./scripted_pair.ts";

Deno.test("Connection.run() tells when the relay is lost and found again, also when nothing comes", async () => {
  await withPair(async ({ phone, relay }) => {
    let reachable = false;
    const parts = {
      store: phone.store,
      keeper: TEXT_KEEPER,
      authenticator: phone.authenticator,
      fetch: (url: string, init: RequestInit) =>
        reachable
          ? relay.fetch(url, { ...init, signal: init.signal ?? null })
          : Promise.reject(new TypeError("down")),
      now: Date.now,
      build: "test",
    };
    const connection = new Connection(parts, phone.daemon);
    const ended = new AbortController();
    const states: ConnectionState[] = [];
    const waits: [ConnectionState, () => void][] = [];
    const until = (state: ConnectionState) =>
      new Promise<void>((resolve) => states.at(-1) === state ? resolve() : waits.push([state, resolve]));
    const running = connection.run(ended.signal, () => {
      states.push(connection.state);
      for (const [state, resolve] of waits) if (state === connection.state) resolve();
    });
    await until("unreachable");
    reachable = true;
    await until("connected");
    assert.deepEqual(states.slice(-2), ["unreachable", "connected"]);
    ended.abort();
    await running;
  });
});
