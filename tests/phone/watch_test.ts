import assert from "node:assert/strict";
import { dropCard, holdSecret, httpCard } from "./scripted_cards.ts";
import { deliver, withPair } from "./scripted_pair.ts";
import { watch } from "./watch.ts";

Deno.test("watch() prints each card once, and again when it ends, as flat objects with words of its own", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const old = await deliver(ends, await dropCard(daemon));
    await daemon.send({
      t: "decided",
      request_hash: old,
      status: "withdrawn",
      by: null,
      reason: "daemon_restarted",
    });
    await phone.when(async () => (await phone.cards())[0]?.status === "withdrawn" || null, 5_000);
    const lines: string[] = [];
    const stop = new AbortController();
    const watching = watch(phone, true, stop.signal, (line) => lines.push(line));
    const printed = (count: number) =>
      phone.when(() => Promise.resolve(lines.length >= count || null), 10_000);
    const drop = await dropCard(daemon, { reason: "because\u202e" });
    const hash = await deliver(ends, drop);
    await printed(1);
    const http = await httpCard(daemon, await holdSecret(daemon)); // of a secret that the phone's log does not have
    await deliver(ends, http);
    await printed(2);
    await daemon.send({
      t: "decided",
      request_hash: hash,
      status: "denied",
      by: "other phone",
      reason: null,
    });
    await printed(3);
    stop.abort();
    await watching;
    const words = new Map((await phone.cards()).map((card) => [card.message.doc.id, card.words]));
    const shown = lines.map((line) => JSON.parse(line));
    const summary = shown.map((
      one,
    ) => [one.request_id, one.fingerprint, one.type, one.status, one.refused, one.by]);
    const id = drop.doc.id;
    assert.deepEqual(summary, [
      [id, words.get(id), "drop", "pending", null, null],
      [http.doc.id, words.get(http.doc.id), "http", "pending", "unknown_secret", null],
      [id, words.get(id), "drop", "denied", null, "other phone"],
    ]);
    assert.equal(shown[0].reason, "because\u202e");
    assert.match(lines.join(""), /^[\x20-\x7e]+$/);
  });
});
