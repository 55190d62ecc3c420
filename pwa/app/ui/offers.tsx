/** What is allowed, in one line; the wider choices open in place, each with what it widens. */

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { Offer, ShownOffer } from "../../offers.ts";

/** What the part needs. */
export interface OffersProps {
  offers: readonly ShownOffer[];
  chosen: number;
  onChoose: (index: number) => void;
}

/** The choice. */
export function Offers({ offers, chosen, onChoose }: OffersProps): JSX.Element {
  const box = useRef<HTMLDetailsElement>(null);
  const present = offers[chosen];
  return (
    <details class="allow" ref={box}>
      <summary>
        <span class="soft">Allow</span> <span data-testid="allowed">{present?.label}</span>
      </summary>
      <fieldset class="options">
        <legend class="unseen">Allow</legend>
        {offers.map(({ label, offer }, index) => (
          <label key={label}>
            <input type="radio" name="offer" checked={index === chosen} onChange={() => onChoose(index)} />
            <span>
              {label}
              {isWide(offer) && <span class="wider">wider</span>}
            </span>
          </label>
        ))}
      </fieldset>
    </details>
  );
}

/** Whether an offer allows more than one request. */
export function isWide(offer: Offer | null): boolean {
  return offer !== null && offer.kind !== "once";
}
