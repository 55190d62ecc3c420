/** The short warning lines of a card, each in words (PHONE.md): what is wider or stranger than usual. */

import type { Offer } from "../../offers.ts";
import type { PhoneRecord, StoredCard } from "../../phone_store.ts";
import { urlParts } from "../ui/url_parts.ts";

/** Every warning that a card needs, most important first. */
export function warningsOf<K>(record: PhoneRecord<K>, card: StoredCard, offer: Offer | null): string[] {
  const { doc, policy } = card.message;
  const out: string[] = [];
  if (doc.type === "http") {
    const { protocol, origin, hostname } = urlParts(doc.http.url);
    if (policy?.limits.private_network) out.push("It may reach your own network.");
    if (protocol === "http:") out.push("Plain http: who is on the way can read it.");
    if (/(^|\.)xn--/.test(hostname)) out.push("Host in another script. Look at it twice.");
    if (!knownOrigin(record, origin)) out.push("First request to this host.");
    if (doc.http.body_preview === null) out.push("The body is not text, so it is not shown.");
  }
  if (doc.type === "access") out.push("Not one request: all that is named above, until it ends.");
  else if (offer !== null && offer.kind !== "once") out.push("Wider than this one request.");
  if (record.alarm !== null) out.push("The computer's log contradicts what this phone has seen.");
  return out;
}

function knownOrigin<K>(record: PhoneRecord<K>, origin: string): boolean {
  return record.cards.some(({ status, message: { doc } }) =>
    status === "granted" && doc.type === "http" && urlParts(doc.http.url).origin === origin
  );
}
