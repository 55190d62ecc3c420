/** The exact HTTP request of a card: method, host and the end of the path always visible; the rest opens in place. */

import type { JSX } from "preact";
import { displaySafe } from "@custos/core/display";
import type { Policy } from "@custos/core/policy";
import type { HttpWanted, RequestDoc } from "@custos/core/request";
import { type CardChange, cardChanges } from "../../card_changes.ts";
import { bytes, clock, Middle, Whole } from "../ui/shown.tsx";
import { urlParts } from "../ui/url_parts.ts";

/** What the part needs. */
export interface HttpFactsProps {
  http: HttpWanted;
  previous: RequestDoc | null;
  handle: string;
  policy: Policy | null;
}

/** Longest path that is shown whole, in characters: three lines of a narrow phone. */
const PATH_SHOWN = 96;
/** Most names of changes in one line. */
const NAMES_SHOWN = 4;

/** Method, host, path, secret; then what changed, headers and body. */
export function HttpFacts({ http, previous, handle, policy }: HttpFactsProps): JSX.Element {
  const url = urlParts(http.url);
  const writes = http.method !== "GET" && http.method !== "HEAD";
  const comparable = previous?.type === "http" && URL.canParse(previous.http.url) && URL.canParse(http.url);
  const before = comparable ? previous : null;
  return (
    <section class="sheet request" aria-label="the request">
      <p>
        <span class={writes ? "method writes" : "method"}>{http.method}</span>{" "}
        <Whole text={url.host} class="host" />
      </p>
      <p>
        <Middle text={url.path} max={PATH_SHOWN} class="path" />
      </p>
      <p class="soft">
        with <span class="mono">{handle}</span>
        {policy === null ? "" : ` (${placementText(policy)})`}
      </p>
      {before !== null && <Changed changes={cardChanges(before.http, http)} since={before.created_ms} />}
      <details>
        <summary>
          {url.path.length > PATH_SHOWN ? "whole path, " : ""}
          {http.headers.length === 1 ? "1 header" : `${http.headers.length} headers`}
          {http.body_bytes === 0 ? ", no body" : `, body ${bytes(http.body_bytes)}`}
        </summary>
        {url.path.length > PATH_SHOWN && (
          <p class="whole">
            <Whole text={url.path} class="path" />
          </p>
        )}
        {http.headers.length > 0 && (
          <dl class="facts">
            {http.headers.map(([name, value], at) => (
              <div key={at}>
                <dt>{displaySafe(name)}</dt>
                <dd>
                  <Whole text={value} />
                </dd>
              </div>
            ))}
          </dl>
        )}
        {http.body_preview !== null && http.body_bytes > 0 && (
          <pre class="pre" tabIndex={0} aria-label="body">{
            http.body_preview.split("\n").map(displaySafe).join("\n")
          }</pre>
        )}
        {http.body_preview !== null && <Hidden http={http} />}
      </details>
    </section>
  );
}

function Changed({ changes, since }: { changes: CardChange[]; since: number }): JSX.Element {
  const time = clock(new Date(since));
  if (changes.length === 0) return <p class="soft">The same as the one approved at {time}.</p>;
  const names = changes.map(({ place, name }) => name === "" ? place : `${place} ${displaySafe(name)}`);
  const more = names.length - NAMES_SHOWN;
  return (
    <p class="changed">
      changed since {time}: {names.slice(0, NAMES_SHOWN).join(", ")}
      {more > 0 ? ` and ${more} more` : ""}
    </p>
  );
}

/** How much of the body the card does not hold. */
function Hidden({ http }: { http: HttpWanted }): JSX.Element | null {
  const shown = new TextEncoder().encode(http.body_preview ?? "").length;
  if (shown >= http.body_bytes) return null;
  return (
    <p class="soft">
      {bytes(http.body_bytes - shown)} of the body are not shown. Approving covers exactly these bytes.
    </p>
  );
}

/** Where the secret goes, in words. */
export function placementText({ placement }: Policy): string {
  switch (placement.kind) {
    case "bearer":
      return "Bearer";
    case "header":
      return `header ${placement.name}`;
    case "basic":
      return `Basic, user ${placement.username}`;
    case "query":
      return `query ${placement.name}`;
  }
}
