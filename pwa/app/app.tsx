/** The frame of the app: the present screen, and the tabs below it. */

import type { JSX } from "preact";
import type { Model } from "./model.ts";
import { go, type Route, route } from "./route.ts";
import { ActivityScreen } from "./screens/activity.tsx";
import { CardScreen } from "./screens/card.tsx";
import { DropScreen } from "./screens/drop.tsx";
import { Inbox } from "./screens/inbox.tsx";
import { PairScreen } from "./screens/pair.tsx";
import { PolicyCardScreen } from "./screens/policy_card.tsx";
import { SecretsScreen } from "./screens/secrets.tsx";
import { SettingsScreen } from "./screens/settings.tsx";

const TABS = [["inbox", "Inbox"], ["secrets", "Secrets"], ["activity", "Activity"], [
  "settings",
  "Settings",
]] as const;

/** The whole app. */
export function App({ model }: { model: Model }): JSX.Element {
  if (!model.ready.value) return <p class="starting">Opening what this phone knows…</p>;
  const here = route.value;
  const paired = model.daemons.value.length > 0;
  return (
    <>
      <Screen model={model} here={here} />
      {paired && here.at !== "card" && here.at !== "pair" && (
        <Tabs here={here} waiting={model.pending.value.length} />
      )}
    </>
  );
}

function Screen({ model, here }: { model: Model; here: Route }): JSX.Element {
  switch (here.at) {
    case "card":
      return <AnyCard model={model} daemon={here.daemon} request={here.request} />;
    case "pair":
      return <PairScreen model={model} link={here.link} onLeave={() => go({ at: "inbox" })} />;
    case "secrets":
      return <SecretsScreen model={model} />;
    case "activity":
      return <ActivityScreen model={model} />;
    case "settings":
      return <SettingsScreen model={model} onPair={() => go({ at: "pair", link: null })} />;
    case "inbox":
      return (
        <Inbox
          model={model}
          onOpen={(daemon, request) => go({ at: "card", daemon, request })}
          onPair={() => go({ at: "pair", link: null })}
        />
      );
  }
}

/** The screen of a card. The key makes each card a screen of its own: none is ever replaced in place. */
function AnyCard({ model, daemon, request }: { model: Model; daemon: string; request: string }): JSX.Element {
  const view = model.daemons.value.find(({ record }) => record.daemon === daemon);
  const card = view?.record.cards.find(({ request_hash }) => request_hash === request);
  const onLeave = () => go({ at: "inbox" });
  if (view === undefined || card === undefined) {
    return (
      <main class="screen">
        <p>This card is not on this phone any more.</p>
        <button onClick={onLeave}>Back to the inbox</button>
      </main>
    );
  }
  const props = { model, daemon: view, card, onLeave };
  if (card.message.doc.type === "drop") return <DropScreen key={request} {...props} />;
  if (card.message.doc.type === "policy") return <PolicyCardScreen key={request} {...props} />;
  return <CardScreen key={request} {...props} />;
}

function Tabs({ here, waiting }: { here: Route; waiting: number }): JSX.Element {
  return (
    <nav class="tabs" aria-label="screens">
      {TABS.map(([at, name]) => (
        <button
          aria-current={here.at === at ? "page" : undefined}
          onClick={() => go({ at })}
        >
          {name}
          {at === "inbox" && waiting > 0 ? ` (${waiting})` : ""}
        </button>
      ))}
    </nav>
  );
}
