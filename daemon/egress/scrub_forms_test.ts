import assert from "node:assert/strict";
import { fromUtf8, utf8 } from "@custos/core/bytes";
import type { Placement } from "@custos/core/policy";
import { FormIndex } from "./form_index.ts";
import { MIN_FORM_BYTES, scrubForms } from "./scrub_forms.ts";
import { scrubWhole } from "./scrubber.ts";

const S = "tok_live_4f9c2a7e";
const ODD = 'sk-test/Ab+c=9"q\\z';
const BEARER: Placement = { kind: "bearer" };

function scrub(secret: string, text: string, placement = BEARER): string {
  const index = new FormIndex(scrubForms(utf8(secret), placement));
  return fromUtf8(scrubWhole(index, utf8("[*]"), utf8(text)).bytes);
}

Deno.test("scrubForms() finds an awkward secret in every spelling of the cases (B58)", () => {
  const texts = [
    ODD,
    "sk-test%2FAb%2Bc%3D9%22q%5Cz",
    "sk-test%2fAb%2bc%3d9%22q%5cz",
    "sk-test/Ab%2Bc=9%22q%5Cz",
    "sk-test%252FAb%252Bc%253D9%2522q%255Cz",
    'sk-test/Ab+c=9\\"q\\\\z',
    'sk-test\\/Ab+c=9\\"q\\\\z',
    'sk-test\\u002fAb+c=9\\"q\\\\z',
    'sk-test\\u002FAb\\u002Bc=9\\"q\\\\z',
    "sk-test/Ab\\u002bc\\u003d9\\u0022q\\u005cz",
    'sk-test/Ab+c=9\\\\\\"q\\\\\\\\z',
    "sk-test/Ab+c=9&quot;q\\z",
    "sk-test/Ab+c=9&#34;q\\z",
    "sk-test&#x2F;Ab&#x2B;c&#x3D;9&#x22;q\\z",
    "sk-test&#x2f;Ab+c=9&quot;q\\z",
    btoa(ODD),
    btoa(ODD).replace(/=+$/, ""),
    btoa(ODD).replaceAll("+", "-").replaceAll("/", "_"),
    Array.from(utf8(ODD), (byte) => byte.toString(16).padStart(2, "0")).join(""),
    Array.from(utf8(ODD), (byte) => byte.toString(16).padStart(2, "0")).join("").toUpperCase(),
    Array.from(utf8(ODD), (byte) => `%${byte.toString(16)}`).join(""),
    Array.from(ODD, (c) => `\\u00${c.charCodeAt(0).toString(16)}`).join(""),
  ];
  for (const text of texts) assert.equal(scrub(ODD, `<${text}>`), "<[*]>", text);
});

Deno.test("scrubForms() writes a blank of a form as plus, percent or as it is (B58)", () => {
  const secret = "correct horse battery";
  for (const text of [secret, "correct+horse+battery", "correct%20horse%20battery"]) {
    assert.equal(scrub(secret, `q=${text}&`), "q=[*]&");
  }
});

Deno.test("scrubForms() finds text beyond ASCII as bytes, escapes and percent", () => {
  const secret = "p\u00e4ssw\u00f6rter-\u{1f511}";
  assert.equal(scrub(secret, secret), "[*]");
  assert.equal(scrub(secret, "p\\u00e4ssw\\u00f6rter-\\ud83d\\udd11"), "[*]");
  assert.equal(scrub(secret, "p\\u00E4ssw\\u00F6rter-\\uD83D\\uDD11"), "[*]");
  assert.equal(scrub(secret, encodeURIComponent(secret)), "[*]");
  assert.equal(scrub(secret, encodeURIComponent(secret).toLowerCase()), "[*]");
});

Deno.test("scrubForms() finds base64 at all three alignments, in both alphabets", () => {
  for (const secret of [S, ODD, "a1b2c3d4e5f6"]) {
    for (const before of ["", "x", "xy", "xyz", "user:", "Bearer "]) {
      for (const after of ["", "!", "!!", "!!!"]) {
        const text = btoa(before + secret + after);
        for (const form of [text, text.replaceAll("+", "-").replaceAll("/", "_")]) {
          const scrubbed = scrub(secret, form);
          assert(scrubbed.includes("[*]"), `${before}|${secret}|${after}`);
          // what is left beside the marker holds less than one byte of the secret at each side
          const [left = "", right = ""] = scrubbed.split("[*]");
          assert(left.replace(/=/g, "").length <= Math.ceil(before.length * 8 / 6) + 1);
          assert(right.replace(/=/g, "").length <= Math.ceil(after.length * 8 / 6) + 1);
        }
      }
    }
  }
});

Deno.test("scrubForms() finds the credential of Basic in every spelling (B56)", () => {
  const rows: [string, string][] = [
    ["user", "dXNlcjp0b2tfbGl2ZV80ZjljMmE3ZQ=="],
    ["x-access-token", "eC1hY2Nlc3MtdG9rZW46dG9rX2xpdmVfNGY5YzJhN2U="],
  ];
  for (const [username, credential] of rows) {
    const placement: Placement = { kind: "basic", username };
    for (const text of [credential, credential.replace(/=+$/, "")]) {
      assert.equal(scrub(S, `Basic ${text}.`, placement), "Basic [*].");
    }
    assert.equal(scrub(S, `${username}:${S}`, placement), "[*]");
    assert.equal(scrub(S, S, placement), "[*]");
  }
});

Deno.test("scrubForms() takes a multi-line secret whole, escaped, with CRLF and by long lines (B68)", () => {
  const lines = [
    "MIIEvQIBADANBgkqhkiG9w0BAQ/FAASC",
    "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
    "MzEfYyjiWA4R4/M2bS1+fWIcPm15A8o=",
  ];
  const pem = `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----`;
  const placement: Placement = { kind: "query", name: "key" };
  for (const text of [pem, pem.replaceAll("\n", "\r\n"), JSON.stringify(pem).slice(1, -1)]) {
    assert.equal(scrub(pem, `<${text}>`, placement), "<[*]>");
  }
  assert.equal(scrub(pem, lines[1]!, placement), "[*]");
  assert.equal(scrub(pem, lines[2]!.replaceAll("/", "\\/"), placement), "[*]");
  for (const text of ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "{", "}"]) {
    assert.equal(scrub(pem, text, placement), text);
  }
  const account = '{\n  "type": "x",\n  "private_key_id": "0123456789abcdef"\n}';
  assert.equal(scrub(account, "{ }", placement), "{ }");
  assert.equal(scrub(account, '{"private_key_id": "0123456789abcdef"}', placement), "{[*]}");
});

Deno.test("scrubForms() has no form that is short enough to be found by chance (B67)", () => {
  for (const secret of ["abcdefghijkl", ODD, S, `line one is long enough\n{\n}\nx`]) {
    for (const form of scrubForms(utf8(secret), BEARER)) assert(form.length >= MIN_FORM_BYTES);
  }
  assert.equal(scrub("abcdefghijkl", "abcdefghijk abcdef"), "abcdefghijk abcdef");
});

Deno.test("scrubForms() stays bounded for the longest and oddest secrets", () => {
  const odd = "\"\\/<>&'+=`~#%!$^*()[]{};:,?|@ ".repeat(2000);
  const many = Array.from({ length: 3000 }, (_, i) => `"key/${i}": "<v>+&`).join("\n");
  for (const secret of [odd.slice(0, 60_000), many]) {
    const forms = scrubForms(utf8(secret.trim()), { kind: "query", name: "k" });
    assert(forms.length < 15_000, `${forms.length}`);
    assert(forms.reduce((sum, form) => sum + form.length, 0) < 64_000_000);
  }
});

Deno.test("scrubForms() stays small for the largest secrets, and still has the spellings of one writer each", () => {
  const secret = "<>&+=`|/".repeat(8_192); // 64 KiB of what encoders disagree about
  const forms = scrubForms(utf8(secret), { kind: "query", name: "key" });
  assert(forms.reduce((sum, form) => sum + form.length, 0) < 16_000_000);
  const has = (text: string) => forms.some((form) => form.length === text.length && fromUtf8(form) === text);
  assert(has(secret));
  assert(has(encodeURIComponent(secret)));
  assert(has(JSON.stringify(secret).slice(1, -1)));
});

Deno.test("scrubForms() has what every encoder in use writes, however many kinds of characters a secret has (B58)", () => {
  const odd = `aZ9 ${"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"} \u00e9\u{1f511}z`;
  const index = new FormIndex(scrubForms(utf8(odd), { kind: "query", name: "key" }));
  const html = (table: Record<string, string>) => Array.from(odd, (c) => table[c] ?? c).join("");
  const json = JSON.stringify(odd).slice(1, -1);
  const rows: [string, string][] = [
    ["raw", odd],
    ["encodeURIComponent", encodeURIComponent(odd)],
    ["encodeURI", encodeURI(odd)],
    ["URLSearchParams", new URLSearchParams([["", odd]]).toString().slice(1)],
    ["encodeURIComponent twice", encodeURIComponent(encodeURIComponent(odd))],
    ["JSON", json],
    ["JSON of PHP", json.replaceAll("/", "\\/").replace(/[\u0080-\uffff]/g, (c) => jsonEscape(c))],
    ["JSON of Go", json.replace(/[<>&]/g, (c) => jsonEscape(c))],
    ["HTML of Python", html({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" })],
    ["HTML of Go", html({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;" })],
  ];
  for (const [what, text] of rows) {
    assert.equal(fromUtf8(scrubWhole(index, utf8("[]"), utf8(`x${text}y`)).bytes), "x[]y", what);
  }
});

function jsonEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

Deno.test("scrubForms() takes a secret that looks like an escape for what it is (B58)", () => {
  for (const secret of ["ab%C6cd?efGH/1", "ab\\u00abcd\u00e9efGH/1", "ab&#xab;cd<efGH/1"]) {
    const index = new FormIndex(scrubForms(utf8(secret), { kind: "query", name: "key" }));
    const lower = (text: string) => text.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
    const ascii = JSON.stringify(secret).slice(1, -1).replace(/[\u0080-\uffff]/g, jsonEscape);
    const rows = [
      lower(encodeURIComponent(secret)),
      encodeURIComponent(lower(encodeURIComponent(secret))),
      encodeURIComponent(encodeURIComponent(secret)),
      JSON.stringify(secret).slice(1, -1),
      ascii,
      ascii.replace("\\u00e9", "\\u00E9"),
      JSON.stringify(JSON.stringify(secret)).slice(3, -3),
      secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;"),
    ];
    for (const text of rows) {
      assert.equal(fromUtf8(scrubWhole(index, utf8("[]"), utf8(`x${text}y`)).bytes), "x[]y", text);
    }
  }
});
