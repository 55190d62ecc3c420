/** The inbox: what waits first, the oldest at the top; then what was just decided. */

import type { JSX } from "preact";
import { displayLine } from "@custos/core/display";
import type { StoredCard } from "../../phone_store.ts";
import type { Model, PendingCard } from "../model.ts";
import { left } from "../ui/shown.tsx";
import { endOf } from "./gone_card.tsx";

/** Ended cards that are still listed. */
const RECENT = 5;

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
  if (daemons.length === 0) return <NotPaired onPair={onPair} />;
  const recent = daemons.flatMap(({ record }) => record.cards.filter((card) => card.status !== "pending"))
    .sort((a, b) => b.received_ms - a.received_ms).slice(0, RECENT);
  const troubled = daemons.filter(({ trouble, record }) =>
    trouble !== null || record.channel.locked !== null
  );
  return (
    <main class="screen" data-testid="inbox">
      <h1>Inbox</h1>
      {troubled.map(({ record, trouble }) => (
        <p class="warning stop" role="alert">
          {record.log.state.daemon_name}:{" "}
          {record.channel.locked === null ? trouble : "two daemons claim this name. " +
            "Nothing is answered. If you did not restore a backup, somebody has a copy of its state."}
        </p>
      ))}
      {daemons.some(({ line }) => line === "unreachable") && (
        <p class="soft" role="status">The relay cannot be reached. What is below may be old.</p>
      )}
      {clockDiffers(model) && (
        <p class="soft">This phone's clock and the computer's differ. The computer's counts.</p>
      )}
      {pending.length === 0
        ? <Nothing names={daemons.map(({ record }) => record.log.state.daemon_name)} />
        : (
          <ul class="rows" aria-label="waiting for you">
            {pending.map((one) => (
              <li>
                <PendingRow one={one} model={model} onOpen={onOpen} several={daemons.length > 1} />
              </li>
            ))}
          </ul>
        )}
      {recent.length > 0 && <h2>Just now</h2>}
      <ul class="rows">{recent.map((card) => <li class="soft">{titleOf(card)}: {endOf(card)}</li>)}</ul>
    </main>
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
  const { doc } = one.card.message;
  const remaining = doc.expires_ms - record.clock_offset_ms - model.now.value;
  return (
    <button
      class="row arrives"
      data-testid="pending"
      onClick={() => onOpen(record.daemon, one.card.request_hash)}
    >
      <strong>{titleOf(one.card)}</strong>
      <br />
      <span class="mono">{one.card.words}</span>
      <br />
      <span class="soft">
        {several ? `${record.log.state.daemon_name} · ` : ""}
        {doc.agent.name === null ? "an agent" : displayLine(doc.agent.name, 30)} · {left(remaining)} left
      </span>
    </button>
  );
}

/** What a card is about, in one line. */
export function titleOf({ message: { doc } }: StoredCard): string {
  switch (doc.type) {
    case "http": {
      const { host, pathname } = new URL(doc.http.url);
      return `${doc.http.method} ${displayLine(host, 60)} ${displayLine(pathname, 40)}`;
    }
    case "drop":
      return `A secret is asked for: ${doc.name}`;
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

function Nothing({ names }: { names: string[] }): JSX.Element {
  return (
    <section class="sheet">
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
    <main class="screen" data-testid="not-paired">
      <h1>custos</h1>
      <section class="sheet">
        <h2>Not paired here</h2>
        <p>
          This browser has no pairing. Start one in the terminal with{" "}
          <code class="mono">custos pair</code>, then scan its code here.
        </p>
      </section>
      <button class="primary" onClick={onPair}>Pair with a computer</button>
    </main>
  );
}

function clockDiffers(model: Model): boolean {
  return model.daemons.value.some(({ record }) => Math.abs(record.clock_offset_ms) > 60_000);
}
