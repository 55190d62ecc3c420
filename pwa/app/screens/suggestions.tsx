/** What the agent suggests for a secret, in its own colours. Nothing of it counts before a person takes it over. */

import type { JSX } from "preact";
import { displayLine } from "@custos/core/display";
import type { DropSuggestion } from "@custos/core/request";
import { placeOf, type PolicyForm } from "../../policy_form.ts";
import { lastingText, placementPhrase, ruleText } from "../../policy_text.ts";

/** What the part needs. */
export interface SuggestionsProps {
  suggest: DropSuggestion;
  onUse: (part: Partial<PolicyForm>) => void;
}

/** The list; nothing where the agent suggests nothing. */
export function Suggestions({ suggest, onUse }: SuggestionsProps): JSX.Element | null {
  const rows: { what: string; text: string; part: Partial<PolicyForm> }[] = [];
  const { origins, placement, rules, max_seconds } = suggest;
  if (origins !== undefined) {
    rows.push({ what: "goes to", text: origins.join(" "), part: { origins: origins.join("\n") } });
  }
  if (placement !== undefined) {
    rows.push({ what: "place", text: placementPhrase(placement), part: placeOf(placement) });
  }
  if (rules !== undefined) {
    rows.push({ what: "rules", text: rules.map(ruleText).join("; "), part: { rules } });
  }
  if (max_seconds !== undefined) {
    rows.push({ what: "longest grant", text: lastingText(max_seconds), part: { max_seconds } });
  }
  if (rows.length === 0) return null;
  return (
    <section class="suggestions" aria-label="the agent suggests">
      <p class="soft">The agent suggests. Use only what you know to be right.</p>
      {rows.map(({ what, text, part }) => (
        <div class="beside" key={what}>
          <p>
            <span class="soft">{what}</span> <bdi class="said" dir="ltr">{displayLine(text, 160)}</bdi>
          </p>
          <button type="button" aria-label={`use the suggested ${what}`} onClick={() => onUse(part)}>
            Use
          </button>
        </div>
      ))}
    </section>
  );
}
