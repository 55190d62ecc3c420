import assert from "node:assert/strict";
import type { AuditLeaf } from "@custos/core/audit";
import type { PhoneRecord, StoredCard } from "../../phone_store.ts";
import { endOf, sentOf } from "./gone_card.tsx";

function card(status: StoredCard["status"], change: Record<string, unknown> = {}): StoredCard {
  const { by = null, reason = null, doc = { type: "http" } } = change;
  return { status, by, reason, message: { doc } } as unknown as StoredCard;
}

Deno.test("endOf() says what became of a card, and never that something was sent that was not (B111)", () => {
  const rows: [StoredCard, string][] = [
    [card("granted", { by: "Pixel" }), "Approved on Pixel."],
    [card("granted", { doc: { type: "policy", change: { kind: "set" } } }), "Changed."],
    [
      card("granted", { doc: { type: "policy", change: { kind: "delete" } }, by: "Pixel" }),
      "Deleted on Pixel.",
    ],
    [card("delivered", { by: "a\u202eb" }), "The secret was given on a\\u{202e}b."],
    [card("denied", { by: "Pixel" }), "Denied on Pixel. Nothing was sent."],
    [card("expired"), "Nobody answered in time, so nothing was sent."],
    [card("withdrawn", { reason: "by_caller" }), "The agent took the request back. Nothing was sent."],
    [
      card("withdrawn", { reason: "daemon_restarted" }),
      "custos was stopped on the computer, so the request is gone. Nothing was sent.",
    ],
    [card("withdrawn"), "The computer no longer asks this. Nothing was sent."],
    [card("over"), "The computer no longer waits for this. It did not say why."],
    [card("pending"), "Waiting for your answer."],
  ];
  for (const [one, said] of rows) assert.equal(endOf(one), said);
});

Deno.test("sentOf() reads the latest end of this very request in the log, and nothing before there is one", () => {
  const leaf = (index: number, part: Partial<AuditLeaf>) => ({
    index,
    leaf: { v: 1, time_ms: index, event: "send_started", request_id: "one", ...part },
  });
  const end = { event: "send_finished", status: 200, bytes: 1_200, redactions: 1 } as const;
  const rows: [unknown[], string | null][] = [
    [[], null],
    [[leaf(0, {})], null],
    [[leaf(0, { ...end, request_id: "two" })], null],
    [[leaf(0, {}), leaf(1, end), { index: 2, leaf: null }], "Answered: 200, 1.2 KB, 1 scrub."],
    [[leaf(0, { event: "send_failed" })], "It could not be sent."],
    [
      [leaf(0, end), leaf(1, { event: "outcome_unknown" })],
      "It may have been sent; the answer was lost. It is not sent again by itself.",
    ],
  ];
  for (const [leaves, said] of rows) {
    assert.equal(sentOf({ activity: { leaves } } as unknown as PhoneRecord<null>, "one"), said);
  }
});
