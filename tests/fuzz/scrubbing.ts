/**
 * Scrubbing against encoders written apart from the product's: a secret in any of their forms, anywhere, in any pieces, does
 * not come out, and what stands around it does, byte for byte.
 */

import { concat, utf8 } from "@custos/core/bytes";
import type { Placement } from "@custos/core/policy";
import { checkSecretValue } from "@custos/core/secret_value";
import { FormIndex } from "../../daemon/egress/form_index.ts";
import { scrubForms } from "../../daemon/egress/scrub_forms.ts";
import { markerFor, Scrubber } from "../../daemon/egress/scrubber.ts";
import type { Find, Random } from "./random.ts";

/** How many inputs one secret gets: its index is the costly part. */
const INPUTS = 250;
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const ODD = "/+=\"'\\<>&~!*() %-_.:;,?@[]{}|^`$#";

interface Scene {
  secret: string;
  forms: [string, string][];
  index: FormIndex;
  marker: Uint8Array;
  left: number;
}

/** A fuzzer with a secret that changes now and then. */
export function scrubFuzzer(): (random: Random) => Find | null {
  let scene: Scene | null = null;
  return (random) => {
    if (scene === null || scene.left-- === 0) scene = newScene(random);
    return tryOne(random, scene);
  };
}

function newScene(random: Random): Scene {
  const placement: Placement = random.once(3)
    ? { kind: "basic", username: "user" }
    : { kind: "query", name: "key" };
  for (;;) {
    const alphabet = random.once(2)
      ? LETTERS
      : LETTERS + ODD + (random.once(4) ? "\u00e9\u20ac\u{1f511}" : "");
    const characters = [...alphabet];
    const secret = Array.from({ length: 12 + random.below(40) }, () => random.pick(characters)).join("");
    try {
      checkSecretValue(utf8(secret), placement);
    } catch {
      continue; // could not be stored
    }
    const index = new FormIndex(scrubForms(utf8(secret), placement));
    return {
      secret,
      forms: formsOf(secret, placement),
      index,
      marker: markerFor("demo-key", index),
      left: INPUTS,
    };
  }
}

const hex2 = (byte: number) => (byte < 16 ? "0" : "") + byte.toString(16);

/** [name, text] of each form in which an encoder in use writes the secret. */
function formsOf(secret: string, placement: Placement): [string, string][] {
  const bytes = new TextEncoder().encode(secret);
  const binary = [...bytes].map((byte) => String.fromCharCode(byte)).join("");
  const json = JSON.stringify(secret).slice(1, -1);
  const units = Array.from({ length: secret.length }, (_, i) => secret.charCodeAt(i));
  const unicode = (unit: number) => `\\u${unit.toString(16).padStart(4, "0")}`;
  const ascii = units.map((unit, i) => unit > 126 ? unicode(unit) : JSON.stringify(secret[i]).slice(1, -1))
    .join("");
  const html = (table: Record<string, string>) => [...secret].map((c) => table[c] ?? c).join("");
  const forms: [string, string][] = [
    ["raw", secret],
    ["base64", btoa(binary)],
    ["base64 without padding", btoa(binary).replace(/=+$/, "")],
    ["base64url", btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")],
    ["hex", [...bytes].map(hex2).join("")],
    ["HEX", [...bytes].map(hex2).join("").toUpperCase()],
    ["encodeURIComponent", encodeURIComponent(secret)],
    [
      "percent in small letters",
      encodeURIComponent(secret).replace(/%../g, (escape) => escape.toLowerCase()),
    ],
    ["form", new URLSearchParams([["", secret]]).toString().slice(1)],
    ["every byte percent", [...bytes].map((byte) => `%${hex2(byte)}`).join("")],
    ["every byte PERCENT", [...bytes].map((byte) => `%${hex2(byte).toUpperCase()}`).join("")],
    ["JSON", json],
    ["JSON with \\/", json.replaceAll("/", "\\/")],
    ["JSON in ASCII", ascii],
    ["JSON in JSON", JSON.stringify(json).slice(1, -1)],
    ["every unit \\u", units.map(unicode).join("")],
    [
      "every unit \\U",
      units.map((unit) => `\\u${unit.toString(16).padStart(4, "0").toUpperCase()}`).join(""),
    ],
    ["HTML names", html({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })],
    ["HTML text", html({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })],
  ];
  if (placement.kind === "basic") {
    const pair = String.fromCharCode(...new TextEncoder().encode(`${placement.username}:${secret}`));
    forms.push(["basic", btoa(pair)], ["basic without padding", btoa(pair).replace(/=+$/, "")]);
  }
  return forms;
}

/** Text in which no form can begin or end, so that what must come out is known to the byte. */
function noise(random: Random): Uint8Array {
  const inner = random.once(3)
    ? random.bytes(60)
    : utf8(random.join(["a", "1", " ", "\n", "{", '"', "\u00e9", "tok"], 30));
  return concat(Uint8Array.of(0), inner, Uint8Array.of(0));
}

function tryOne(random: Random, { secret, forms, index, marker }: Scene): Find | null {
  const first = noise(random);
  const data: Uint8Array[] = [first];
  const expected: Uint8Array[] = [first];
  const used: string[] = [];
  for (let i = random.below(4); i > 0; i--) {
    const [name, text] = random.pick(forms);
    const after = noise(random);
    used.push(name);
    data.push(utf8(text), after);
    expected.push(marker, after);
  }
  const whole = concat(...data);
  const scrubber = new Scrubber(index, marker);
  const out: Uint8Array[] = [];
  for (let at = 0; at < whole.length;) {
    const size = random.once(3) ? 1 + random.below(3) : 1 + random.below(whole.length);
    out.push(...scrubber.push(whole.slice(at, at + size)).map(({ bytes }) => bytes));
    at += size;
  }
  out.push(...scrubber.end().map(({ bytes }) => bytes));
  const [got, want] = [latin1(concat(...out)), latin1(concat(...expected))];
  const input = JSON.stringify({ secret, used, data: latin1(whole) });
  for (const [name, text] of forms) {
    if (got.includes(latin1(utf8(text)))) return { input, wrong: `the form ${name} comes out` };
  }
  if (got !== want) return { input, wrong: `what comes out is ${JSON.stringify(got)}` };
  return scrubber.redactions === used.length ? null : { input, wrong: `it counted ${scrubber.redactions}` };
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
