/**
 * Cards that the phone must refuse by itself (DESIGN §6.3 step 1). A daemon that was taken over could send them: one touch
 * on a harmless card would open another secret. So nobody is asked for a touch, and nothing leaves the phone.
 */

import assert from "node:assert/strict";
import { fromBase64url, randomBytes, toBase64url } from "@custos/core/bytes";
import { headerHash } from "@custos/core/custody";
import { newId } from "@custos/core/ids";
import { policyHash } from "@custos/core/policy";
import type { RequestOf } from "@custos/core/request";
import { applyMessage, approve, CARD_REFUSALS, type CardMessage, type CardRefusal, deny } from "@custos/pwa";
import { identify } from "@custos/pwa";
import { SHARED, shareHouse } from "./harness.ts";

const house = shareHouse();

type HttpCard = CardMessage & { doc: RequestOf<"http"> };

/** Each row makes a card out of the two that are right: for the harmless secret, and for the other one. */
const ROWS: [CardRefusal, string, (mine: HttpCard, other: HttpCard) => HttpCard | Promise<HttpCard>][] = [
  ["not_latest_policy", "whose policy is another version", async (mine) => {
    const policy = { ...mine.policy!, version: 2, prev: await policyHash(mine.policy!) };
    return { ...mine, policy, doc: { ...mine.doc, policy_hash: await policyHash(policy) } };
  }],
  ["not_latest_header", "whose header is not the latest of its secret", async (mine, other) => {
    const header = fromBase64url(other.header!)!;
    return {
      ...mine,
      header: other.header,
      doc: { ...mine.doc, header_sha256: await headerHash(header) },
    };
  }],
  ["header_bytes", "that comes with the header of another secret", (mine, other) => ({
    ...mine,
    header: other.header,
  })],
  ["policy_bytes", "that comes with the policy of another secret", (mine, other) => ({
    ...mine,
    policy: other.policy,
  })],
  ["policy_bytes", "whose policy was widened", (mine) => ({
    ...mine,
    policy: { ...mine.policy!, origins: [...mine.policy!.origins, "https://evil.test"] },
  })],
  ["handle", "that shows one secret and opens another", (mine, other) => ({
    ...other,
    doc: { ...other.doc, handle: mine.doc.handle },
  })],
  ["unknown_secret", "of a secret that is in no log", (mine) => ({
    ...mine,
    doc: { ...mine.doc, secret_id: newId() },
  })],
  ["other_daemon", "of another daemon", (mine) => ({ ...mine, doc: { ...mine.doc, daemon: newId() } })],
  ["other_daemon", "under another computer's name", (mine) => ({
    ...mine,
    doc: { ...mine.doc, daemon_name: "another computer" },
  })],
  ["target", "that goes to another host", (mine) => ({
    ...mine,
    doc: { ...mine.doc, http: { ...mine.doc.http, url: "http://127.0.0.1:9/elsewhere" } },
  })],
  ["target", "whose URL is not what would be sent", (mine) => ({
    ...mine,
    doc: { ...mine.doc, http: { ...mine.doc.http, url: `${mine.doc.http.url}/../../x#y` } },
  })],
  ["expired", "that has expired by the daemon's own clock", (mine) => ({
    ...mine,
    doc: { ...mine.doc, created_ms: 1, expires_ms: 2 },
  })],
  ["incomplete", "without a header", (mine) => ({ ...mine, header: null })],
];

Deno.test(
  "the phone refuses a card that is not of the latest of its own log, without a touch",
  SHARED,
  async (t) => {
    const h = house();
    await h.dropSecret("precious", "precious_value_0123456789");
    const agent = "card";
    const asks = [
      await h.ask("/card", { agent }),
      await h.ask("/card", { agent, handle: "custos:precious" }),
    ];
    const [mine, other] = await Promise.all(
      asks.map(async ({ id }) => (await h.card(id)).message as HttpCard),
    );
    const { daemon } = h.phone;
    for (const [why, what, make] of ROWS) {
      await t.step({
        ...SHARED,
        name: `a card ${what}`,
        fn: async () => {
          const made = await make(mine!, other!);
          const doc = { ...made.doc, id: newId(), nonce: toBase64url(randomBytes(32)) };
          const message: CardMessage = { ...made, doc };
          const { request_hash } = await identify((await h.phone.record()).words_key, doc);
          await h.parts.store.update(daemon, async (record) => [
            await applyMessage(record, message, Date.now()),
            undefined,
          ]);
          const [touches, posted] = [h.authenticator.touches, h.posted.length];
          await assert.rejects(approve(h.parts, daemon, request_hash, { kind: "once" }), (error: Error) => {
            assert.ok(error.message.startsWith(CARD_REFUSALS[why]), error.message);
            return true;
          });
          assert.equal(h.authenticator.touches, touches, "nobody was asked for a touch");
          assert.equal((await h.phone.record()).outbox.length, 0);
          assert.equal(h.posted.length, posted, "nothing left the phone");
          await deny(h.parts, daemon, request_hash); // saying no is always possible
          await h.parts.store.update(daemon, (record) =>
            Promise.resolve([{
              ...record,
              outbox: [],
              cards: record.cards.filter((card) => card.request_hash !== request_hash),
            }, undefined]));
        },
      });
    }
    assert.equal(h.api.connections, 0);
    // Without a change, the same two cards are approved.
    for (const { id } of asks) await h.approve(id);
  },
);
