import assert from "node:assert/strict";
import type { PhoneRecord, StoredCard } from "../../phone_store.ts";
import type { Offer } from "../../offers.ts";
import { titleOf } from "../ui/title.ts";
import { warningsOf } from "./card_warnings.ts";

const ONCE: Offer = { kind: "once" };

function card(url: string, change: Record<string, unknown> = {}): StoredCard {
  const { status = "pending", private_network = false, body_preview = "", type = "http" } = change;
  const doc = { type, handle: "custos:x", http: { method: "GET", url, body_preview } };
  const policy = { limits: { private_network } };
  return { status, message: { doc, policy } } as unknown as StoredCard;
}

function record(cards: StoredCard[], alarm: string | null = null): PhoneRecord<null> {
  return { cards, alarm } as unknown as PhoneRecord<null>;
}

Deno.test("warningsOf() has a line for each thing that is wider or stranger than usual, and none besides", () => {
  const known = record([card("https://api.test/a", { status: "granted" })]);
  const rows: [string, StoredCard, Offer | null, PhoneRecord<null>, RegExp[]][] = [
    ["a known host, once", card("https://api.test/b"), ONCE, known, []],
    ["another host", card("https://new.test/"), ONCE, known, [/First request/]],
    ["another port", card("https://api.test:8443/"), ONCE, known, [/First request/]],
    ["plain http", card("http://api.test/a"), ONCE, known, [/Plain http/, /First request/]],
    ["an own network", card("https://api.test/a", { private_network: true }), ONCE, known, [/own network/]],
    ["a homograph (B15)", card("https://xn--pi-6kc.test/"), ONCE, known, [/another script/, /First request/]],
    ["a body that is no text", card("https://api.test/", { body_preview: null }), ONCE, known, [/not text/]],
    ["a wide offer", card("https://api.test/"), { kind: "path" }, known, [/Wider/]],
    ["an access card", card("", { type: "access" }), { kind: "wanted" }, known, [/Not one request/]],
    ["a log that contradicts", card("https://api.test/"), ONCE, { ...known, alarm: "audit_log_forked" }, [
      /contradicts/,
    ]],
    ["no offer yet", card("https://api.test/"), null, known, []],
    ["text that is no address", card("javascript:alert(1)//"), ONCE, known, [/First request/]],
  ];
  for (const [name, one, offer, of, expected] of rows) {
    const found = warningsOf(of, one, offer);
    assert.equal(found.length, expected.length, `${name}: ${found.join(" ")}`);
    expected.forEach((pattern, at) => assert.match(found[at]!, pattern, name));
  }
});

Deno.test("titleOf() shows text that is no address as text (B107)", () => {
  assert.equal(titleOf(card("https://api.test/a?b")), "GET api.test/a");
  assert.equal(titleOf(card("\u202e no address")), "GET \\u{202e} no address");
});
