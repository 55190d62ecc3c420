import assert from "node:assert/strict";
import { AUDIT_EVENTS, type AuditLeaf } from "@custos/core/audit";
import { auditLine } from "./audit_text.ts";

const HTTP = {
  agent: "claude",
  handle: "custos:github",
  method: "POST",
  origin: "https://api.github.com",
  path: "/a",
};

function said(leaf: Partial<AuditLeaf> & Pick<AuditLeaf, "event">): string {
  return auditLine({ v: 1, time_ms: 1, ...leaf }, (id) => `phone ${id}`).text;
}

Deno.test("auditLine() says an entry as a sentence", () => {
  const rows: [Partial<AuditLeaf> & Pick<AuditLeaf, "event">, string][] = [
    [{ event: "request_created", ...HTTP }, "“claude” asked for POST api.github.com/a with custos:github."],
    [
      { event: "request_created", agent: null, handle: "custos:x" },
      "A phone, or an agent without a name, asked for custos:x.",
    ],
    [
      { event: "granted", device: "one", ...HTTP },
      "Approved on phone one: POST api.github.com/a with custos:github.",
    ],
    [
      { event: "denied", device: "one", why: "after_grant", handle: "custos:x" },
      "Taken back on phone one: custos:x.",
    ],
    [
      { event: "send_finished", ...HTTP, status: 201, bytes: 1_234, redactions: 1 },
      "POST api.github.com/a with custos:github: answered 201, 1.2 KB, 1 scrub.",
    ],
    [{ event: "scrubbed", redactions: 3 }, "The secret came back 3 times, and was replaced each time."],
    [{ event: "scrubbed", redactions: 1 }, "The secret came back once, and was replaced."],
    [{ event: "locked", why: "Pixel" }, "Everything was locked by Pixel."],
    [{ event: "grant_ended", why: "policy_changed" }, "A grant ended (policy changed)."],
  ];
  for (const [leaf, text] of rows) assert.equal(said(leaf), text);
});

Deno.test("auditLine() has a sentence for every event", () => {
  const texts = AUDIT_EVENTS.map((event) => said({ event }));
  assert.ok(texts.every((text) => /^[A-Za-z].*\.$/.test(text)), texts.join("\n"));
  assert.ok(auditLine({ v: 1, time_ms: 1, event: "outcome_unknown" }, String).odd);
  assert.ok(!auditLine({ v: 1, time_ms: 1, event: "granted" }, String).odd);
});

Deno.test("auditLine() shows an agent's control and bidi characters as such (B103, B104)", () => {
  const text = said({ event: "request_created", agent: "a\u202eb\n", handle: "custos:x" });
  assert.equal(text, "“a\\u{202e}b\\u{a}” asked for custos:x.");
});
