/**
 * Where the value is pasted. It is a text area that shows dots, because a password field would hand the value to password
 * managers and their stores. The value lives in the field alone until it is taken; nothing else of the app holds it.
 */

import type { JSX } from "preact";
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** What the part needs. `onInput` is called without the value: who wants it looks into the field. */
export interface ValueFieldProps {
  field: RefObject<HTMLTextAreaElement | null>;
  onInput: () => void;
}

/** The field. */
export function ValueField({ field, onInput }: ValueFieldProps): JSX.Element {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const area = field.current;
    return () => {
      if (area !== null) clearValue(area);
    };
  }, []);
  return (
    <div class="field">
      <label for="value">The secret</label>
      <textarea
        id="value"
        ref={field}
        class={shown ? "mono" : "mono dots"}
        rows={2}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        aria-describedby="value-help"
        data-1p-ignore
        data-lpignore="true"
        data-bwignore
        onInput={onInput}
      />
      <div class="beside">
        <p class="soft" id="value-help">
          Paste it here. It is sealed on this phone, and cannot be shown again.
        </p>
        <button type="button" aria-pressed={shown} onClick={() => setShown(!shown)}>
          {shown ? "Hide" : "Show"}
        </button>
      </div>
    </div>
  );
}

/** The value, as bytes that can be wiped. It stays in the field: a passkey that was cancelled should not cost a paste. */
export function valueOf(field: HTMLTextAreaElement): Uint8Array {
  return new TextEncoder().encode(field.value);
}

/** Empties the field. */
export function clearValue(field: HTMLTextAreaElement): void {
  field.value = "";
  field.defaultValue = "";
}
