/** What a card is about, in one line. */

import { displayLine } from "@custos/core/display";
import type { StoredCard } from "../../phone_store.ts";
import { urlParts } from "./url_parts.ts";

/** The line. Every text from elsewhere in it is made safe. */
export function titleOf({ message: { doc } }: StoredCard): string {
  switch (doc.type) {
    case "http": {
      const { host, pathname } = urlParts(doc.http.url);
      return `${doc.http.method} ${displayLine(host, 60)}${displayLine(pathname, 40)}`;
    }
    case "drop":
      return `Give a secret: ${doc.name}`;
    case "policy":
      return doc.change.kind === "delete" ? `Delete ${doc.handle}` : `Change ${doc.handle}`;
    case "access":
      return `Use ${doc.handle}`;
    case "propose":
      return `A new secret: ${doc.name}`;
    case "device":
    case "recovery":
      return "A new device";
  }
}
