/** How many columns text takes on a terminal. Pure; the text must be safe to show already (`displaySafe`). */

/** East Asian wide and full-width blocks, and what is drawn as a picture: two columns each (UAX #11). */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const NONE = /\p{M}/u;

/** Columns of one line. */
export function width(text: string): number {
  let sum = 0;
  for (const character of text) sum += NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return sum;
}

/** The text in exactly this many columns: filled with blanks, or cut with `…` at its end. */
export function fit(text: string, columns: number): string {
  const wide = width(text);
  if (wide <= columns) return text + " ".repeat(columns - wide);
  let kept = "";
  let used = 0;
  for (const character of text) {
    const next = width(character);
    if (used + next > columns - 1) break;
    kept += character;
    used += next;
  }
  return columns < 1 ? "" : `${kept}…${" ".repeat(Math.max(0, columns - 1 - used))}`;
}

/** `left` and `right` at the two ends of a line. Where both do not fit, `left` is cut. */
export function ends(left: string, right: string, columns: number): string {
  const room = columns - width(right) - 1;
  return room < 1 ? fit(right, columns) : `${fit(left, room)} ${right}`;
}
