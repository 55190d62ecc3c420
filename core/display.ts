/**
 * Text from elsewhere, made safe to show. Agents choose reasons, names, paths and headers; upstreams choose the rest. No
 * control, bidi, invisible or escape character of theirs reaches a terminal or a card: it is shown as `\u{…}` (B103, B104,
 * B106).
 */

/** Marks are allowed up to this many in a row; more would climb over the lines around them (B104). */
const MAX_MARKS = 4;

/** Controls, formats, line ends, private and unassigned ones, what is never drawn, and the blank of Braille. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}]/gu;
const SPACES = /[\p{Zs}]/gu;
const MARKS = /\p{M}+/gu;

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

/** One line of visible text: everything that cannot be seen or moves what is around it is written as `\u{…}`. */
export function displaySafe(text: string): string {
  return text
    .toWellFormed()
    .replace(UNSAFE, escaped)
    .replace(SPACES, (space) => space === " " ? " " : escaped(space))
    .replace(MARKS, (marks) => {
      const all = [...marks];
      return all.slice(0, MAX_MARKS).join("") + all.slice(MAX_MARKS).map(escaped).join("");
    });
}

/**
 * Safe text of at most about `max` characters. Longer text is cut in the middle, never at the end, and says how many
 * characters are not shown; an end that is hidden is where a surprise would be put.
 */
export function displayLine(text: string, max: number): string {
  const characters = [...displaySafe(text)];
  if (characters.length <= Math.max(2, max)) return characters.join("");
  const keep = Math.max(2, max - 12);
  const head = Math.ceil(keep / 2);
  const tail = keep - head;
  const hidden = characters.length - head - tail;
  return `${characters.slice(0, head).join("")} …${hidden}… ${
    characters.slice(characters.length - tail).join("")
  }`;
}
