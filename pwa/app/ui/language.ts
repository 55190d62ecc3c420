/**
 * The one seam for other languages: every fixed label goes through {@link t}. English texts are their own keys, so that a
 * table may be partial. What agents say never goes through it.
 */

/** Texts of a language by their English ones. */
export type LanguageTable = Readonly<Record<string, string>>;

let table: LanguageTable = {};

/** Chooses a language for all labels that are drawn from now on. */
export function speak(next: LanguageTable): void {
  table = next;
}

/** A label in the present language. */
export function t(text: string): string {
  return table[text] ?? text;
}
