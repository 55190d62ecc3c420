/** Picking the first word: a person who does not look at the computer cannot know it (DESIGN §13, settings). */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Model } from "../model.ts";

/** What the part needs. */
export interface WordCheckProps {
  model: Model;
  words: string;
  onRight: () => void;
}

/** Four words. A wrong one is said, and four others come. */
export function WordCheck({ model, words, onRight }: WordCheckProps): JSX.Element {
  const right = words.split(" ")[0]!;
  const [choices, setChoices] = useState<string[]>([]);
  const [wrong, setWrong] = useState(0);
  useEffect(() => {
    model.engine().then((engine) => setChoices(engine.wordChoices(right)));
  }, [wrong]);
  return (
    <fieldset class="pick">
      <legend>
        {wrong === 0 ? "Which word comes first on the computer?" : "That is not the first word. Look again:"}
      </legend>
      {choices.map((word) => (
        <button
          type="button"
          key={word}
          lang="en"
          onClick={() => word === right ? onRight() : setWrong(wrong + 1)}
        >
          {word}
        </button>
      ))}
    </fieldset>
  );
}
