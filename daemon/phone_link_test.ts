import assert from "node:assert/strict";
import type { DaemonMessage } from "@custos/core/messages";
import type { ChannelLine } from "./channel_line.ts";
import { type LinkParts, PhoneLink } from "./phone_link.ts";

/**
 * A phone that asks for everything while a request is being made: its card goes out while the answer is put together. An
 * answer that does not name it would take the card off the phone, and nobody could approve it any more.
 */
Deno.test("PhoneLink names every request in `sync` whose card is on its way before it", async () => {
  const sent: DaemonMessage[] = [];
  const pending: { hash: string }[] = [];
  const line = {
    send: (message: DaemonMessage) => {
      sent.push(message);
      return Promise.resolve(false);
    },
  } as unknown as ChannelLine;
  const parts = {
    channels: { seen() {} },
    policies: { state: { size: 0 }, byName: () => undefined, secrets: () => [] },
    grants: { all: () => [] },
    requests: { list: () => [...pending], endedSince: () => [], previousLike: () => undefined },
    audit: {
      checkpoint: () => {
        pending.push({ hash: "made in the meantime" });
        sent.push({ t: "card" } as DaemonMessage);
        return Promise.resolve({ note: "a checkpoint" });
      },
    },
  } as unknown as LinkParts;
  const link = new PhoneLink({ device_id: "phone" } as PhoneLink["device"], line, parts);
  await link.onMessage({ t: "sync", log_size: 0 });
  const sync = sent.find((message) => message.t === "sync");
  assert.ok(sync?.t === "sync");
  assert.deepEqual(sync.pending, ["made in the meantime"]);
});

Deno.test("PhoneLink sends all policies, in messages that the phone can read", async () => {
  const sent: DaemonMessage[] = [];
  const line = {
    send: (message: DaemonMessage) => {
      sent.push(message);
      return Promise.resolve(false);
    },
  } as unknown as ChannelLine;
  const secrets = Array.from({ length: 120 }, (_, i) => ({ policy: { name: `secret-${i}` } }));
  const parts = {
    channels: { seen() {} },
    policies: { state: { size: 0 }, byName: () => undefined, secrets: () => secrets },
    grants: { all: () => [] },
    requests: { list: () => [], endedSince: () => [], previousLike: () => undefined },
    audit: { checkpoint: () => Promise.resolve({ note: "a checkpoint" }) },
  } as unknown as LinkParts;
  await new PhoneLink({ device_id: "phone" } as PhoneLink["device"], line, parts).onMessage({
    t: "sync",
    log_size: 0,
  });
  const messages = sent.filter((message) => message.t === "policies");
  assert.ok(messages.every(({ policies }) => policies.length <= 50));
  assert.deepEqual(
    messages.flatMap(({ policies }) => policies.map(({ name }) => name)),
    secrets.map((one) => one.policy.name),
  );
});
