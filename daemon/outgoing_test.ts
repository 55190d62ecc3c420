import assert from "node:assert/strict";
import { utf8 } from "@custos/core/bytes";
import { REQUEST_LIMITS } from "@custos/core/request";
import { parseTarget } from "@custos/core/target";
import { memoryBody } from "./fixed_body.ts";
import { checkNotSelf, previewOf } from "./outgoing.ts";

Deno.test("previewOf() shows text as text wherever the cut falls, and other bytes not at all", async () => {
  const limit = REQUEST_LIMITS.body_preview;
  for (let shift = 0; shift < 4; shift++) {
    const text = "x".repeat(shift) + "\u{1f511}".repeat(20_000);
    const preview = previewOf(await memoryBody(utf8(text)));
    assert.equal(preview, text.slice(0, limit).toWellFormed());
  }
  const rows: [Uint8Array<ArrayBuffer>, string | null][] = [
    [utf8(""), ""],
    [utf8("short"), "short"],
    [utf8("\ufeffmark"), "\ufeffmark"],
    [Uint8Array.of(255), null],
    [Uint8Array.of(104, 105, 0xc3), null], // ends inside a character, and there is no more
    [utf8("y".repeat(1_000_000)), "y".repeat(limit)],
  ];
  for (const [bytes, expected] of rows) assert.equal(previewOf(await memoryBody(bytes)), expected);
});

Deno.test("checkNotSelf() refuses the relay of this daemon, by both of its addresses, and nothing else (B24)", () => {
  const relay = { dial: "https://relay.example.test:8443", url: "https://relay.example.test" };
  const check = (url: string) => checkNotSelf(parseTarget("GET", url), relay);
  for (
    const url of [
      "https://relay.example.test/v1/x",
      "https://RELAY.example.test:443/",
      "https://relay.example.test:8443/",
    ]
  ) {
    assert.throws(() => check(url), { kind: "host_not_allowed" }, url);
  }
  for (
    const url of [
      "https://api.example.test/",
      "https://relay.example.test:9443/",
      "http://relay.example.test/",
    ]
  ) {
    assert.doesNotThrow(() => check(url), url);
  }
});
