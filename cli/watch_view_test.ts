import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import type { RequestView } from "@custos/rpc/request_schemas";
import { countdown } from "./text.ts";
import { lostLines, watchLines } from "./watch_view.ts";
import type { LogItem, Snapshot } from "./watch_data.ts";
import { width } from "./width.ts";

/** B103, B104 and B106 in one text. */
const evil =
  "ok\u001b[2J\u001b[H\u001b]52;c;ZXZpbA==\u0007\u009b31m\u202etxt\u202c\u200b\u2066\u00ad\ufeff\u{e0041}\n" +
  "Granted now: 9\u2028Risk: low\u0085" + "e" + "\u0301".repeat(300) + "日本語\u{1f4a5}";
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** Bold and faint, on and off. */
const STYLE = new RegExp("\x1b\\[(?:1|2|22)m", "g");
const now = 1_700_000_000_000;

const request = (at: number, change: Partial<RequestView> = {}): RequestView => ({
  request_id: newId(),
  fingerprint: "rocket velvet oasis",
  type: "http",
  handle: "custos:github",
  agent: { name: "claude", client: null },
  reason: "List the open issues.",
  method: "GET",
  url: "https://api.github.com/repos/acme/site/issues",
  status: "pending",
  created_ms: now - at * 1_000,
  expires_ms: now + 872_000,
  delivery: "sent",
  ...change,
});

const entry = (index: number, change: Partial<LogItem["leaf"]> = {}): LogItem => ({
  index,
  leaf: {
    v: 1,
    time_ms: now,
    event: "request_created",
    agent: "claude",
    fingerprint: "rocket velvet oasis",
    ...change,
  },
});

const snapshot = (change: Partial<Snapshot> = {}): Snapshot => ({
  status: {
    version: "0.1.0",
    daemon: newId(),
    name: "kims-laptop",
    state_dir: "/s",
    profile: "public",
    started_ms: now,
    devices: 1,
    pending: 1,
    live_grants: 0,
    relay: { url: "https://relay.test", state: "connected", since_ms: now },
    locked: false,
    channels: [],
    audit: { size: 0 },
  },
  pending: [request(1)],
  grants: [],
  recent: [],
  names: {},
  ...change,
});
const look = { columns: 80, rows: 24, now, colour: false };

Deno.test("watchLines() shows the words, what is asked, by whom, and the time that is left", () => {
  const lines = watchLines(snapshot(), look);
  assert.match(lines[0]!, /^custos on kims-laptop +relay connected · 1 phone · \d\d:\d\d$/);
  assert.match(lines[3]!, /^ {2}rocket velvet oasis {3}http custos:github +14:32 left$/);
  assert.match(lines[4]!, /^ {4}GET https:\/\/api\.github\.com\/repos\/acme\/site\/issues/);
  assert.match(lines[5]!, /^ {4}calls itself "claude": "List the open issues\."/);
});

Deno.test("watchLines() fills any terminal exactly, whatever there is to show", () => {
  const many = Array.from(
    { length: 32 },
    (_, at) => request(at, { reason: evil, url: `https://x.test/${evil}` }),
  );
  const all = snapshot({
    pending: many,
    recent: Array.from({ length: 60 }, (_, at) => entry(at, { agent: evil })),
  });
  for (const [columns, rows] of [[80, 24], [120, 50], [40, 12], [20, 5], [1, 1]] as const) {
    for (const colour of [true, false]) {
      for (const shown of [all, snapshot(), snapshot({ pending: [] })]) {
        const lines = watchLines(shown, { ...look, columns, rows, colour });
        assert.equal(lines.length, rows);
        for (const line of lines) {
          const plain = line.replaceAll(STYLE, "");
          assert.ok(plain === "" || width(plain) === columns, JSON.stringify([columns, width(plain), plain]));
        }
      }
    }
  }
});

Deno.test("watchLines() lets no text of others move the cursor, hide, or look like a line of its own (B103, B104, B106)", () => {
  const grant = {
    grant_id: newId(),
    handle: "custos:x",
    origins: [evil],
    methods: ["GET"],
    path: `/${evil}`,
    uses_left: 1,
    max_uses: 1,
    expires_ms: now,
    ended: false,
  };
  const shown = snapshot({
    pending: [
      request(1, { reason: evil, agent: { name: evil, client: { name: evil, version: evil } }, url: evil }),
    ],
    grants: [grant],
    recent: [
      entry(1, { agent: evil }),
      entry(2, { event: "granted", device: evil }),
      entry(3, { event: "send_finished", origin: evil, path: evil, why: evil }),
    ],
    names: { [evil]: evil },
  });
  shown.status.name = evil;
  const lines = [...watchLines(shown, { ...look, columns: 200 }), ...lostLines(evil, look)];
  for (const line of lines) assert.ok(!unsafe.test(line), JSON.stringify(line));
  assert.equal(lines.filter((line) => line.startsWith("Granted now:")).length, 1);
});

Deno.test("watchLines() shows the newest requests first and says how many are not shown", () => {
  const shown = snapshot({
    pending: [request(1, { handle: "custos:new" }), request(2), request(3), request(4)],
  });
  const text = watchLines(shown, { ...look, rows: 20 }).join("\n");
  assert.match(text, /Waiting for the phone: 4[^]*custos:new[^]*and 2 older/);
});

Deno.test("watchLines() says that a channel is locked, that no phone is there, and that a card has not left", () => {
  const shown = snapshot({ pending: [request(1, { delivery: "not_delivered" })] });
  shown.status.locked = true;
  shown.status.devices = 0;
  const text = watchLines(shown, look).join("\n");
  assert.match(text, /no phone · CHANNEL LOCKED/);
  assert.match(text, /has not left for the phone yet/);
});

Deno.test("watchLines() names devices, and leaves out steps that the next line tells as well", () => {
  const recent = [
    entry(1, { event: "card_sent" }),
    entry(2, { event: "granted", device: "id1" }),
    entry(3, { event: "send_started", origin: "https://x.test", path: "/y", method: "GET" }),
    entry(4, { event: "send_finished", status: 200, origin: "https://x.test", path: "/y", method: "GET" }),
  ];
  const text = watchLines(snapshot({ pending: [], recent, names: { id1: "Kim's phone" } }), look).join("\n");
  assert.match(text, /Kim's phone granted {2}rocket velvet oasis/);
  assert.match(text, /answered 200 {2}GET x\.test\/y/);
  assert.doesNotMatch(text, /sending|the card left|id1/);
});

Deno.test("countdown() counts whole seconds down to zero and no further", () => {
  const rows: [number, string][] = [[872_000, "14:32"], [1, "0:01"], [0, "0:00"], [-5_000, "0:00"], [
    3_723_000,
    "1:02:03",
  ]];
  for (const [ms, text] of rows) assert.equal(countdown(ms), text);
});
