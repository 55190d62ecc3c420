/**
 * Where the person is. The fragment never makes anything happen by itself: a pairing link is read once and cleared at once
 * (B137), a card is only opened to be looked at (B131). The browser's own way back works between screens.
 */

import { type Signal, signal } from "@preact/signals";

/** A place in the app. */
export type Route =
  | { at: "inbox" }
  | { at: "card"; daemon: string; request: string }
  | { at: "pair"; link: string | null }
  | { at: "secrets" }
  | { at: "edit"; daemon: string; secret: string }
  | { at: "activity" }
  | { at: "settings" };

/** The present place. */
export const route: Signal<Route> = signal(routeOfLink());

addEventListener("popstate", (event) => {
  const { state } = event as PopStateEvent; // checked together with Deno's own globals, the name has no type
  // Without a state it is a link that was opened in this tab: only the fragment has changed.
  route.value = (state as Route | null) ?? routeOfLink();
});

/** Goes to a place. From a card there is no way back into it: what was answered is over. */
export function go(next: Route): void {
  // A pairing link is a secret for two minutes, and the browser's history outlives it.
  const kept: Route = next.at === "pair" ? { at: "pair", link: null } : next;
  if (route.value.at === "card" || route.value.at === "edit") history.replaceState(kept, "");
  else history.pushState(kept, "");
  route.value = next;
  scrollTo(0, 0);
}

/** Reads the fragment, and clears it before anything else can see it. */
function routeOfLink(): Route {
  const { hash, href, pathname, search } = location;
  if (hash !== "") history.replaceState(null, "", pathname + search);
  if (hash.startsWith("#p=")) return { at: "pair", link: href };
  const card = /^#card=([a-z2-7]{26})\.([A-Za-z0-9_-]{43})$/.exec(hash);
  return card === null ? { at: "inbox" } : { at: "card", daemon: card[1]!, request: card[2]! };
}
