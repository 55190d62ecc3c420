/** Text as one word of a POSIX shell. */

/**
 * Quotes a text so that a shell takes it as one word and changes nothing in it: blanks, `$`, backquotes and quotes stay
 * what they are.
 * @throws {RangeError} for control characters, which have no place in a path and could hide what a script does.
 */
export function shellWord(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new RangeError("A path with a control character cannot be installed.");
  if (/^[A-Za-z0-9_@%+=:,./[\]-]+$/.test(text) && !/[[\]]/.test(text)) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
