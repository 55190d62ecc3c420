/** The inbox: what waits first, the oldest at the top; then what was just decided. */

import type { JSX } from "preact";
import { displayLine } from "@custos/core/display";
import { ALARMS, type StoredCard } from "../../phone_store.ts";
import type { DaemonView, Model, PendingCard } from "../model.ts";
import { updateReady } from "../updates.ts";
import { Frame } from "../ui/frame.tsx";
import { t } from "../ui/language.ts";
import { left, remainingOf } from "../ui/shown.tsx";
import { titleOf } from "../ui/title.ts";
import { endOf, sentOf } from "./gone_card.tsx";

/** Ended cards that are still listed. */
const RECENT = 5;
/** From this difference on, clocks are spoken of, in milliseconds. */
const CLOCK_MS = 60_000;

/** What the screen needs. */
export interface InboxProps {
  model: Model;
  onOpen: (daemon: string, requestHash: string) => void;
  onPair: () => void;
}

/** The screen. */
export function Inbox({ model, onOpen, onPair }: InboxProps): JSX.Element {
  const pending = model.pending.value;
  const daemons = model.daemons.value;
  const apply = updateReady.value;
  if (daemons.length === 0) return <NotPaired onPair={onPair} />;
  const several = daemons.length > 1;
  return (
    <Frame name="inbox" title={pending.length === 0 ? "Inbox" : `${pending.length} waiting`}>
      <h1>{t("Inbox")}</h1>
      {daemons.map((daemon) => <Trouble key={daemon.record.daemon} daemon={daemon} />)}
      {apply !== null && (
        <div class="beside">
          <p class="soft">A new version is ready.</p>
          <button type="button" onClick={apply}>{t("Update")}</button>
        </div>
      )}
      <p class="unseen" role="status">{waitingText(pending.length)}</p>
      {pending.length === 0
        ? <Nothing names={daemons.map(({ record }) => record.log.state.daemon_name)} />
        : (
          <ul class="rows" aria-label="waiting for you">
            {pending.map((one) => (
              <li key={one.card.request_hash}>
                <PendingRow one={one} model={model} onOpen={onOpen} several={several} />
              </li>
            ))}
          </ul>
        )}
      <Recent daemons={daemons} />
    </Frame>
  );
}

/** What a person must know of a computer before anything of it is believed. */
function Trouble({ daemon }: { daemon: DaemonView }): JSX.Element {
  const { record, trouble, line } = daemon;
  const name = record.log.state.daemon_name;
  const held = record.cards.filter(({ status, held }) => status === "pending" && held !== null);
  const stop = record.channel.locked !== null
    ? "two daemons claim this name. Nothing is answered. If you did not restore a backup, somebody has a copy of its state."
    : record.alarm !== null
    ? ALARMS[record.alarm]
    : trouble;
  const minutes = Math.round(Math.abs(record.clock_offset_ms) / 60_000);
  return (
    <>
      {stop !== null && <p class="warning stop" role="alert">{name}: {stop}</p>}
      {held.length > 0 && (
        <p class="warning">
          {name} asks more than it may. {held.length === 1 ? "One card is" : `${held.length} cards are`}{" "}
          held back, and will end by themselves.
        </p>
      )}
      {line === "unreachable" && (
        <p class="soft" role="status">{name}: the relay cannot be reached. What is below may be old.</p>
      )}
      {Math.abs(record.clock_offset_ms) > CLOCK_MS && (
        <p class="soft">
          {name}: its clock and this phone's are {minutes} min apart. The computer's counts.
        </p>
      )}
    </>
  );
}

function Recent({ daemons }: { daemons: readonly DaemonView[] }): JSX.Element | null {
  const recent = daemons.flatMap(({ record }) =>
    record.cards.filter((card) => card.status !== "pending").map((card) => ({ record, card }))
  ).sort((a, b) => b.card.received_ms - a.card.received_ms).slice(0, RECENT);
  if (recent.length === 0) return null;
  return (
    <section>
      <h2>Just now</h2>
      <ul class="rows recent">
        {recent.map(({ record, card }) => (
          <li key={card.request_hash}>
            {titleOf(card)}
            <span class="soft block">
              {endOf(card)} {card.status === "granted" ? sentOf(record, card.message.doc.id) : ""}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function PendingRow(
  { one, model, onOpen, several }: {
    one: PendingCard;
    model: Model;
    onOpen: InboxProps["onOpen"];
    several: boolean;
  },
): JSX.Element {
  const { record } = one.daemon;
  // Who is to pick the first word must not have read it here.
  const hidden = model.settings.value.word_check;
  const [, ...rest] = one.card.words.split(" ");
  const remaining = remainingOf(record, one.card.message.doc, model.now.value);
  return (
    <button
      type="button"
      class="row"
      data-testid="pending"
      onClick={() => onOpen(record.daemon, one.card.request_hash)}
    >
      <span class="row-words" lang="en">{hidden ? `… ${rest.join(" ")}` : one.card.words}</span>
      <span class="row-title">{titleOf(one.card)}</span>
      <span class="soft">
        {several ? `${record.log.state.daemon_name} · ` : ""}
        {askedBy(one.card)} · {left(remaining)} left
      </span>
    </button>
  );
}

/** For who does not see the list: said when the number changes. */
function waitingText(count: number): string {
  return count === 0 ? "No card waits." : count === 1 ? "One card waits." : `${count} cards wait.`;
}

function askedBy({ message: { doc } }: StoredCard): string {
  if (doc.type === "policy") return "begun on a phone";
  return doc.agent.name === null ? "an agent" : displayLine(doc.agent.name, 30);
}

function Nothing({ names }: { names: string[] }): JSX.Element {
  return (
    <section class="sheet empty">
      <Lock />
      <h2>Nothing waits</h2>
      <p>
        When an agent on {names.join(" or ")}{" "}
        wants to use a secret, the request appears here with three words. Nothing is sent before you say so.
      </p>
    </section>
  );
}

function NotPaired({ onPair }: { onPair: () => void }): JSX.Element {
  return (
    <Frame name="not-paired" title="Not paired here">
      <h1>custos</h1>
      <section class="sheet empty">
        <Lock />
        <h2>Not paired here</h2>
        <p>
          This browser has no pairing. Start one in the terminal with{" "}
          <code class="mono">custos pair</code>, then scan its code here.
        </p>
      </section>
      <button type="button" class="primary" onClick={onPair}>{t("Pair with a computer")}</button>
    </Frame>
  );
}

function Lock(): JSX.Element {
  return (
    <svg class="lock" viewBox="0 0 48 48" aria-hidden="true">
      <path d="M14 22v-6a10 10 0 0 1 20 0v6" />
      <rect x="9" y="22" width="30" height="20" rx="5" />
      <path d="M24 30v5" />
    </svg>
  );
}
