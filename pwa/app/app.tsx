/** The frame of the app: the present screen, and the tabs below it. */

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { DaemonView, Model } from "./model.ts";
import { go, type Route, route } from "./route.ts";
import { CardScreen } from "./screens/card.tsx";
import { Inbox } from "./screens/inbox.tsx";
import { Frame } from "./ui/frame.tsx";
import { t } from "./ui/language.ts";
import { lazy } from "./ui/lazy.tsx";
import { UpdateBar } from "./ui/update_bar.tsx";

// The inbox and the card are there at once; every other screen comes when it is first needed.
const ActivityScreen = lazy(async () => (await import("./screens/activity.tsx")).default);
const DropScreen = lazy(async () => (await import("./screens/drop.tsx")).default);
const EditScreen = lazy(async () => (await import("./screens/edit.tsx")).default);
const PairScreen = lazy(async () => (await import("./screens/pair.tsx")).default);
const PolicyCardScreen = lazy(async () => (await import("./screens/policy_card.tsx")).default);
const SecretsScreen = lazy(async () => (await import("./screens/secrets.tsx")).default);
const SettingsScreen = lazy(async () => (await import("./screens/settings.tsx")).default);

const TABS = [
  ["inbox", "Inbox"],
  ["secrets", "Secrets"],
  ["activity", "Activity"],
  ["settings", "Settings"],
] as const;

const toInbox = () => go({ at: "inbox" });
const toPair = () => go({ at: "pair", link: null });

/** The whole app. */
export function App({ model }: { model: Model }): JSX.Element {
  const here = route.value;
  const ready = model.ready.value;
  const paired = model.daemons.value.length > 0;
  useEffect(() => {
    if (ready && !paired && here.at !== "pair") go({ at: "inbox" });
  }, [ready, paired]);
  if (!ready) return <p class="starting">Opening what this phone knows…</p>;
  const tabs = paired && here.at !== "card" && here.at !== "pair" && here.at !== "edit";
  return (
    <>
      {!paired && here.at === "inbox" && <UpdateBar />}
      <Screen model={model} here={here} />
      {tabs && <Tabs here={here} waiting={model.pending.value.length} />}
    </>
  );
}

function Screen({ model, here }: { model: Model; here: Route }): JSX.Element {
  switch (here.at) {
    case "card":
      return <AnyCard model={model} daemon={here.daemon} request={here.request} />;
    case "pair":
      return <PairScreen key={here.link} model={model} link={here.link} onLeave={toInbox} />;
    case "secrets":
      return <SecretsScreen model={model} />;
    case "edit":
      return <Edit model={model} daemon={here.daemon} secret={here.secret} />;
    case "activity":
      return <ActivityScreen model={model} />;
    case "settings":
      return <SettingsScreen model={model} onPair={toPair} />;
    case "inbox":
      return (
        <Inbox
          model={model}
          onOpen={(daemon, request) => go({ at: "card", daemon, request })}
          onPair={toPair}
        />
      );
  }
}

/** The screen of a card. The key makes each card a screen of its own: none is ever replaced in place. */
function AnyCard({ model, daemon, request }: { model: Model; daemon: string; request: string }): JSX.Element {
  const view = viewOf(model, daemon);
  const card = view?.record.cards.find(({ request_hash }) => request_hash === request);
  if (view === undefined || card === undefined) {
    return <Missing text="This card is not on this phone any more." label="Inbox" onLeave={toInbox} />;
  }
  const props = { model, daemon: view, card, onLeave: toInbox };
  if (card.message.doc.type === "drop") return <DropScreen key={request} {...props} />;
  if (card.message.doc.type === "policy") return <PolicyCardScreen key={request} {...props} />;
  return <CardScreen key={request} {...props} />;
}

function Edit({ model, daemon, secret }: { model: Model; daemon: string; secret: string }): JSX.Element {
  const view = viewOf(model, daemon);
  const policy = view?.record.policies.find(({ secret_id }) => secret_id === secret);
  if (view !== undefined && policy !== undefined) {
    return <EditScreen key={secret} model={model} daemon={view} policy={policy} />;
  }
  return (
    <Missing
      text="This secret is not there any more."
      label="Secrets"
      onLeave={() => go({ at: "secrets" })}
    />
  );
}

function Missing(
  { text, label, onLeave }: { text: string; label: string; onLeave: () => void },
): JSX.Element {
  return (
    <Frame name="missing" title={text} back={{ label, go: onLeave }}>
      <p class="lead" role="status">{text}</p>
    </Frame>
  );
}

function Tabs({ here, waiting }: { here: Route; waiting: number }): JSX.Element {
  return (
    <nav class="tabs" aria-label="screens">
      {TABS.map(([at, name]) => (
        <button
          type="button"
          key={at}
          aria-current={here.at === at ? "page" : undefined}
          onClick={() => go({ at })}
        >
          {t(name)}
          {at === "inbox" && waiting > 0 && <span class="count">{waiting}</span>}
        </button>
      ))}
    </nav>
  );
}

function viewOf(model: Model, daemon: string): DaemonView | undefined {
  return model.daemons.value.find(({ record }) => record.daemon === daemon);
}
