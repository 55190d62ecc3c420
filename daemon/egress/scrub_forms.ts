/**
 * The forms in which a secret may come back (DESIGN §12). What is not here is not found: one-way transforms, encryption,
 * compression inside a body, base64 with line breaks, text cut in pieces by the server. SECURITY.md says so.
 */

import { type Bytes, concat, fromUtf8, toBase64, toHex, utf8 } from "@custos/core/bytes";
import type { Placement } from "@custos/core/policy";
import { basicPair } from "@custos/core/secret_value";
import { latin1Bytes, latin1Text } from "./latin1.ts";
import { htmlTable, jsonTable, percentTable, spellings, unicodeEscape } from "./spellings.ts";
import { HTML_WRITERS, JSON_WRITERS, PERCENT_WRITERS } from "./writers.ts";

/** Shortest form: a shorter one would be found in places that have nothing to do with the secret (B67). */
export const MIN_FORM_BYTES = 12;
/** Shortest single line of a multi-line secret that is replaced by itself (B68). */
const MIN_LINE_BYTES = 16;

/**
 * Every form of a secret at its placement, each once, longest first, none shorter than {@link MIN_FORM_BYTES}. The header
 * value of `bearer` and `header` holds the secret as it is, so only that of `basic` needs forms of its own (B56).
 */
export function scrubForms(secret: Uint8Array, placement: Placement): Bytes[] {
  const forms = new Map<string, Bytes>();
  const add = (form: Uint8Array) => {
    if (form.length >= MIN_FORM_BYTES) forms.set(latin1Text(form), Uint8Array.from(form));
  };
  for (const form of encodedForms(secret)) add(form);
  if (placement.kind === "basic") {
    const pair = basicPair(placement.username, secret);
    for (const form of [pair, ...base64Forms(pair)]) add(form);
  }
  for (const line of lines(secret)) {
    add(line);
    // few spellings each, because there can be thousands of lines
    const escaped = JSON.stringify(fromUtf8(line)).slice(1, -1);
    for (const spelling of [escaped, escaped.replaceAll("/", "\\/")]) add(utf8(spelling));
  }
  return [...forms.values()].sort((a, b) => b.length - a.length);
}

function* encodedForms(secret: Uint8Array): Generator<Uint8Array> {
  const text = fromUtf8(secret);
  yield secret;
  if (text.includes("\n")) yield utf8(text.replace(/\r?\n/g, "\r\n"));
  yield* base64Forms(secret);
  const digits = toHex(secret);
  yield utf8(digits);
  yield utf8(digits.toUpperCase());
  for (const spelling of jsonSpellings(text)) yield utf8(spelling);
  for (const spelling of percentSpellings(latin1Text(secret))) yield latin1Bytes(spelling);
  for (const spelling of spellings(text, htmlTable, HTML_WRITERS)) {
    yield* bothHexCases(spelling, /&#x[0-9a-f]+;/g);
  }
}

/** JSON spellings, those of a JSON text inside a JSON string, and `\uXXXX` throughout. */
function jsonSpellings(text: string): string[] {
  const all = [...spellings(text, jsonTable, JSON_WRITERS), Array.from(text, unicodeEscape).join("")];
  const inner = inBothCases([JSON.stringify(text).slice(1, -1)], upperUnicode);
  const twice = inner.map((once) => JSON.stringify(once).slice(1, -1));
  return [...inBothCases(all, upperUnicode), ...twice, ...twice.map((text) => text.replaceAll("/", "\\/"))];
}

/** Percent spellings, every byte escaped, and what each encoder writes encoded a second time. */
function percentSpellings(bytes: string): string[] {
  const once = spellings(bytes, percentTable, PERCENT_WRITERS);
  const tilde = once.filter((spelling) => spelling.includes("~")).map((spelling) =>
    spelling.replaceAll("~", "%7E")
  );
  const full = Array.from(bytes, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`).join("");
  const all = inBothCases([...once, ...tilde, full.toUpperCase()], lowerPercent);
  const written = PERCENT_WRITERS.map((writer) => Array.from(bytes, writer).join(""));
  return [...all, ...inBothCases(written, lowerPercent).map((spelling) => spelling.replaceAll("%", "%25"))];
}

function inBothCases(all: readonly string[], other: (spelling: string) => string): string[] {
  return all.flatMap((spelling) => [spelling, other(spelling)]);
}

/** The digits of escapes, and not those of a secret that looks like one: `%25C6` is a `%` and then `C6`. */
function lowerPercent(spelling: string): string {
  return spelling.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
}

/** The same for JSON: two backslashes and `u00e9` are a backslash and then `u00e9`. */
function upperUnicode(spelling: string): string {
  return spelling.replace(
    /\\\\|\\u[0-9a-f]{4}/g,
    (escape) => escape === "\\\\" ? escape : `\\u${escape.slice(2).toUpperCase()}`,
  );
}

/**
 * Base64 in both alphabets: the whole, with and without padding, and for each of the three alignments the characters that
 * do not depend on what stands around the secret.
 */
function base64Forms(bytes: Uint8Array): Bytes[] {
  const whole = toBase64(bytes);
  const texts = [whole, whole.replace(/=+$/, "")];
  for (let before = 0; before < 3; before++) {
    const text = toBase64(concat(new Uint8Array(before), bytes));
    const first = Math.ceil(before * 8 / 6);
    texts.push(text.slice(first, Math.floor((before + bytes.length) * 8 / 6)));
  }
  const urlSafe = texts.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  // the standard alphabet again as JSON and query writers spell it
  const escaped = texts.flatMap((text) => [
    text.replaceAll("/", "\\/"),
    text.replaceAll("+", "\\u002B"),
    text.replace(/[+/=]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`),
    text.replace(/[+/=]/g, (character) => `%${character.charCodeAt(0).toString(16)}`),
  ]);
  return [...texts, ...urlSafe, ...escaped].map(utf8);
}

/** Long lines of a multi-line secret; not the ones that every file of the kind has (B68). */
function lines(secret: Uint8Array): Bytes[] {
  const all = fromUtf8(secret).split(/\r?\n/).map((line) => line.trim());
  if (all.length === 1) return [];
  return all.filter((line) => !/^-----(?:BEGIN|END) [A-Z0-9 ]+-----$/.test(line))
    .map(utf8).filter((line) => line.length >= MIN_LINE_BYTES);
}

function* bothHexCases(spelling: string, escapes: RegExp): Generator<Bytes> {
  yield utf8(spelling);
  yield utf8(spelling.replace(escapes, (escape) => `&#x${escape.slice(3).toUpperCase()}`));
}
