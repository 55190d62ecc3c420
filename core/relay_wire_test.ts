import assert from "node:assert/strict";
import fc from "fast-check";
import { toBase64url } from "./bytes.ts";
import { newId } from "./ids.ts";
import {
  decodeCount,
  decodeMailboxHashes,
  decodeMessage,
  decodePage,
  decodePosted,
  decodePushKey,
  decodePushSubscription,
  decodeRelayError,
  hashToken,
  isBase64url,
  isMailboxId,
  isToken,
  mailboxPath,
  MESSAGE_BYTES_MAX,
  messagesPath,
  PAGE_BYTES_MAX,
  PAGE_MESSAGES_MAX,
  pushPath,
  REPLY_BYTES_MAX,
} from "./relay_wire.ts";

const HASH = "h".repeat(42) + "A";
const OTHER = "i".repeat(42) + "A";
const MESSAGE = { seq: 7, posted_ms: 1, data: "AQ" };
const SUBSCRIPTION = {
  endpoint: "https://push.example.test/abc",
  keys: { p256dh: "B".padEnd(86, "x") + "A", auth: "a".repeat(21) + "A" },
};

Deno.test("isMailboxId() accepts fresh ids and nothing that is spelled otherwise", () => {
  const id = newId();
  assert.ok(isMailboxId(id));
  const wrong = [
    id.toUpperCase(),
    id.slice(1),
    id + "a",
    id.slice(0, -1) + "b",
    id.slice(0, -1) + "1",
    `${id}\n`,
    "",
  ];
  for (const text of wrong) assert.equal(isMailboxId(text), false, text);
});

Deno.test("isBase64url() accepts every encoding of bytes, in its one spelling", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
    const text = toBase64url(bytes);
    assert.ok(isBase64url(text));
    assert.equal(isToken(text), bytes.length === 32);
  }));
  for (const text of ["A", "AB", "AAB", "AA==", "AA+A", "AA/A", "AAAA\n", "AA A"]) {
    assert.equal(isBase64url(text), false, text);
  }
});

Deno.test("hashToken() is SHA-256 over the token's characters", async () => {
  assert.equal(await hashToken("A".repeat(43)), "DwBzhbb51LfusnSGBa_hqYSgo7-j8BTQnip4TOnlzRo");
  assert.notEqual(await hashToken("A".repeat(42) + "E"), await hashToken("A".repeat(43)));
  assert.ok(isToken(await hashToken("")));
});

Deno.test("mailboxPath(), messagesPath() and pushPath() name a mailbox's places", () => {
  assert.equal(mailboxPath("id"), "/v1/mailboxes/id");
  assert.equal(messagesPath("id"), "/v1/mailboxes/id/messages");
  assert.equal(pushPath("id"), "/v1/mailboxes/id/push");
});

Deno.test("decodeCount() reads plain digits in range", () => {
  assert.deepEqual([decodeCount("0"), decodeCount("17"), decodeCount("9007199254740991")], [
    0,
    17,
    2 ** 53 - 1,
  ]);
  assert.equal(decodeCount("25000", 25000), 25000);
  for (const text of ["", "-1", "+1", "01", "1.0", "1e3", "0x1", " 1", "9007199254740992", "1_0", "٣"]) {
    assert.equal(decodeCount(text), null, text);
  }
  assert.equal(decodeCount("25001", 25000), null);
});

Deno.test("decodeMailboxHashes() accepts two different hashes", () => {
  const hashes = { read_hash: HASH, write_hash: OTHER };
  assert.deepEqual(decodeMailboxHashes(hashes), hashes);
});

Deno.test("decodeMessage() and decodePage() accept what a relay sends", () => {
  assert.deepEqual(decodeMessage(MESSAGE), MESSAGE);
  assert.deepEqual(decodePage({ messages: [] }), { messages: [] });
  const page = { messages: [MESSAGE, { ...MESSAGE, seq: 9 }] };
  assert.deepEqual(decodePage(page), page);
  const largest = { ...MESSAGE, data: toBase64url(new Uint8Array(MESSAGE_BYTES_MAX)) };
  assert.deepEqual(decodeMessage(largest), largest);
});

Deno.test("decodePosted() and decodeRelayError() accept what a relay sends", () => {
  assert.deepEqual(decodePosted({ seq: 1, expires_ms: 2 }), { seq: 1, expires_ms: 2 });
  assert.deepEqual(decodeRelayError({ kind: "full", message: "m" }), { kind: "full", message: "m" });
});

Deno.test("decodePushSubscription() accepts what browsers give and keeps what is needed", () => {
  assert.deepEqual(decodePushSubscription(SUBSCRIPTION), SUBSCRIPTION);
  assert.deepEqual(decodePushSubscription({ ...SUBSCRIPTION, expirationTime: null }), SUBSCRIPTION);
});

const PUSH_KEY = toBase64url(Uint8Array.from({ length: 65 }, (_, at) => at === 0 ? 4 : at));

Deno.test("decodePushKey() accepts an uncompressed point", () => {
  assert.equal(decodePushKey({ key: PUSH_KEY }), PUSH_KEY);
});

const endpoint = (text: string) => ({ ...SUBSCRIPTION, endpoint: text });
const REFUSED: [(value: unknown) => unknown, string, unknown[]][] = [
  [decodeMailboxHashes, "decodeMailboxHashes", [
    { read_hash: HASH, write_hash: HASH },
    { read_hash: HASH, write_hash: "short" },
    { read_hash: HASH, write_hash: OTHER, more: 1 },
    { read_hash: HASH, write_hash: 1 },
    { read_hash: HASH },
  ]],
  [decodeMessage, "decodeMessage", [
    { ...MESSAGE, seq: 0 },
    { ...MESSAGE, seq: 1.5 },
    { ...MESSAGE, seq: 2 ** 53 },
    { ...MESSAGE, seq: "7" },
    { ...MESSAGE, posted_ms: -1 },
    { ...MESSAGE, data: "" },
    { ...MESSAGE, data: "AB" },
    { ...MESSAGE, data: "AQ==" },
    { ...MESSAGE, data: toBase64url(new Uint8Array(MESSAGE_BYTES_MAX + 1)) },
    { ...MESSAGE, more: 1 },
  ]],
  [decodePage, "decodePage", [
    { messages: {} },
    { messages: [MESSAGE, MESSAGE] },
    { messages: [MESSAGE, { ...MESSAGE, seq: 6 }] },
    { messages: [MESSAGE, null] },
    { messages: Array.from({ length: PAGE_MESSAGES_MAX + 1 }, (_, i) => ({ ...MESSAGE, seq: i + 1 })) },
    { messages: [], more: 1 },
  ]],
  [decodePosted, "decodePosted", [{ seq: 0, expires_ms: 1 }, { seq: 1 }, { seq: 1, expires_ms: "1" }]],
  [decodeRelayError, "decodeRelayError", [
    { kind: "gone", message: "" },
    { kind: "toString", message: "" },
    { kind: "full" },
    { kind: "full", message: "m".repeat(1025) },
  ]],
  [decodePushKey, "decodePushKey", [
    { key: PUSH_KEY.slice(1) },
    { key: "C" + PUSH_KEY.slice(1) },
    { key: PUSH_KEY.slice(0, 86) + "=" },
    { key: PUSH_KEY, more: 1 },
    { key: 1 },
  ]],
  [decodePushSubscription, "decodePushSubscription", [
    endpoint("http://push.example.test/abc"),
    endpoint("https://push.example.test:8443/abc"),
    endpoint("https://user@push.example.test/abc"),
    endpoint("https://127.0.0.1/abc"),
    endpoint("https://[::1]/abc"),
    endpoint("https://localhost/abc"),
    endpoint("https://2130706433/abc"),
    endpoint("https://push.example.test/" + "a".repeat(2048)),
    endpoint("/abc"),
    { ...SUBSCRIPTION, keys: { ...SUBSCRIPTION.keys, p256dh: "short" } },
    { ...SUBSCRIPTION, keys: { p256dh: SUBSCRIPTION.keys.p256dh } },
    { ...SUBSCRIPTION, more: 1 },
  ]],
];
for (const [decode, name, values] of REFUSED) {
  Deno.test(`${name}() refuses everything else`, () => {
    for (const value of [...values, null, undefined, 1, "text", [], {}]) {
      assert.equal(decode(value), null, JSON.stringify(value)?.slice(0, 200));
    }
  });
}

Deno.test("REPLY_BYTES_MAX leaves room for the fullest page", () => {
  const seq = Number.MAX_SAFE_INTEGER - PAGE_MESSAGES_MAX;
  const data = toBase64url(new Uint8Array(PAGE_BYTES_MAX / PAGE_MESSAGES_MAX));
  const messages = Array.from(
    { length: PAGE_MESSAGES_MAX },
    (_, i) => ({ seq: seq + i, posted_ms: seq, data }),
  );
  assert.ok(JSON.stringify({ messages }).length <= REPLY_BYTES_MAX);
});
