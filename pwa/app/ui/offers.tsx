/**
 * What is allowed, in one line above the answer; the other choices open in place, each with what it widens, and time,
 * methods and path can be narrowed (DESIGN §6.3).
 */

import type { JSX } from "preact";
import type { Offer, ShownOffer } from "../../offers.ts";

/** What the part needs. `seconds` is the policy's longest grant, `asked` what an access card may be narrowed from. */
export interface OffersProps {
  offers: readonly ShownOffer[];
  chosen: number;
  seconds: number;
  asked: Extract<Offer, { kind: "narrow" }> | null;
  onChoose: (index: number) => void;
  /** The chosen offer, changed. */
  onChange: (offer: Offer) => void;
}

/** Lengths to choose from, in minutes. */
const MINUTES = [1, 5, 15, 30, 60, 240, 480];

/** The choice. */
export function Offers(props: OffersProps): JSX.Element {
  const { offers, chosen, onChoose } = props;
  return (
    <details class="allow">
      <summary>
        <span>
          <span class="soft">Allow</span> <span data-testid="allowed">{offers[chosen]?.label}</span>
        </span>
      </summary>
      <fieldset class="options">
        <legend class="unseen">Allow</legend>
        {offers.map(({ label, offer }, index) => (
          <label key={index}>
            <input type="radio" name="offer" checked={index === chosen} onChange={() => onChoose(index)} />
            <span>
              {offer.kind === "narrow" && index !== chosen ? "Less than was asked…" : label}
              {isWide(offer) && <span class="wider">wider</span>}
            </span>
          </label>
        ))}
      </fieldset>
      <Narrow {...props} />
    </details>
  );
}

/** Time, and for an access card also methods and path, of the chosen offer. */
function Narrow({ offers, chosen, seconds, asked, onChange }: OffersProps): JSX.Element | null {
  const offer = offers[chosen]?.offer;
  if (offer?.kind !== "minutes" && offer?.kind !== "narrow") return null;
  const most = offer.kind === "narrow" && asked !== null ? asked.minutes : Math.floor(seconds / 60);
  const lengths = [...new Set([...MINUTES.filter((minutes) => minutes <= most), offer.minutes])].sort((
    a,
    b,
  ) => a - b);
  return (
    <div class="narrow">
      {offer.kind === "narrow" && asked !== null && (
        <>
          <div class="chips" role="group" aria-label="methods">
            {asked.methods.map((method) => (
              <label class="chip" key={method}>
                <input
                  type="checkbox"
                  checked={offer.methods.includes(method)}
                  onChange={({ currentTarget: { checked } }) =>
                    onChange({
                      ...offer,
                      methods: asked.methods.filter((one) =>
                        one === method ? checked : offer.methods.includes(one)
                      ),
                    })}
                />
                {method}
              </label>
            ))}
          </div>
          <label for="narrow-path">Path and below</label>
          <input
            id="narrow-path"
            class="mono"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={offer.path_prefix}
            onInput={({ currentTarget }) => onChange({ ...offer, path_prefix: currentTarget.value.trim() })}
          />
        </>
      )}
      <label for="narrow-time">For how long</label>
      <select
        id="narrow-time"
        value={String(offer.minutes)}
        onChange={({ currentTarget }) => onChange({ ...offer, minutes: Number(currentTarget.value) })}
      >
        {lengths.map((minutes) => (
          <option value={String(minutes)} key={minutes}>
            {minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Whether an offer allows more than one request. */
export function isWide(offer: Offer | null): boolean {
  return offer !== null && offer.kind !== "once";
}
