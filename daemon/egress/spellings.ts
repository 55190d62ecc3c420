/**
 * How encoders spell characters. An encoder treats equal characters alike, so the spellings of a text are the products of
 * one choice for each distinct character, not for each place (B58).
 */

import type { Writer } from "./writers.ts";

/** The spellings of one character that encoders in use produce; the first is the plainest. */
export type SpellingTable = (character: string) => readonly string[];

/** Most spellings of one text that are listed one by one. Past it, see {@link spellings}. */
const MOST = 192;
/** Most characters of these together: a secret of 64 KiB must not fill the memory of its cell. */
const MOST_CHARACTERS = 1_000_000;

/**
 * All spellings of `text` under a table, and always those of `writers`. Where there are more than 192, or more than a
 * million characters of them, the table gives only those in which every character takes its n-th spelling (the last where
 * it has fewer): the plainest, the fullest and what is between.
 */
export function spellings(text: string, table: SpellingTable, writers: readonly Writer[]): string[] {
  const characters = [...new Set(text)];
  const choices = characters.map((character) => table(character));
  const product = choices.reduce((size, list) => size * list.length, 1);
  const picks = product <= Math.min(MOST, MOST_CHARACTERS / text.length)
    ? everyPick(choices)
    : diagonalPicks(choices);
  picks.push(...writers.map((writer) => characters.map(writer)));
  return picks.map((pick) => {
    const chosen = new Map(characters.map((character, i) => [character, pick[i]!]));
    return Array.from(text, (character) => chosen.get(character)!).join("");
  });
}

function everyPick(choices: readonly (readonly string[])[]): string[][] {
  return choices.reduce<string[][]>(
    (picks, list) => picks.flatMap((pick) => list.map((spelling) => [...pick, spelling])),
    [[]],
  );
}

function diagonalPicks(choices: readonly (readonly string[])[]): string[][] {
  const deepest = Math.max(...choices.map((list) => list.length));
  return Array.from(
    { length: deepest },
    (_, n) => choices.map((list) => list[Math.min(n, list.length - 1)]!),
  );
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

/** `\uXXXX` for each UTF-16 unit, small hex digits. */
export function unicodeEscape(character: string): string {
  return Array.from({ length: character.length }, (_, i) => `\\u${hex(character.charCodeAt(i), 4)}`).join("");
}

const JSON_SHORT: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
};

/** Strings in JSON (RFC 8259 §7), with what HTML-safe and ASCII-only writers escape besides, and JavaScript's `\'`. */
export const jsonTable: SpellingTable = (character) => {
  const unicode = unicodeEscape(character);
  const short = JSON_SHORT[character];
  if (character === "\n") return ["\\n", "\\r\\n", unicode];
  if (short !== undefined) return [short, unicode];
  if (character === '"' || character === "\\") return [`\\${character}`, unicode];
  if (character === "/") return ["/", "\\/", unicode];
  if (character === "'") return ["'", "\\'", unicode];
  if (/[<>&+=`]/.test(character) || character > "~") return [character, unicode];
  return character < " " ? [unicode] : [character];
};

/**
 * Percent-encoding of a text whose characters are bytes (Latin-1 of its UTF-8): URL, path, query and form writers escape
 * different sets beyond the unreserved characters of RFC 3986 §2.3, and forms write a blank as `+`.
 */
export const percentTable: SpellingTable = (character) => {
  const escape = `%${hex(character.charCodeAt(0), 2).toUpperCase()}`;
  if (/[A-Za-z0-9._-]/.test(character)) return [character];
  if (character === " ") return ["+", escape];
  return /[\x21-\x7e]/.test(character) ? [character, escape] : [escape];
};

const HTML_NAMES: Readonly<Record<string, string>> = {
  '"': "quot",
  "&": "amp",
  "<": "lt",
  ">": "gt",
  "'": "apos",
};

/** Character references of HTML, for what template engines escape. */
export const htmlTable: SpellingTable = (character) => {
  if (!/["&<>'/=+`]/.test(character)) return [character];
  const code = character.charCodeAt(0);
  const named = HTML_NAMES[character];
  const first = named === undefined ? character : `&${named};`;
  const apostrophe = character === "'" ? ["'"] : [];
  return [first, ...apostrophe, `&#${code};`, `&#x${hex(code, 2)};`];
};
