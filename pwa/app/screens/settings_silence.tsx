/** Silence: a mute is kept by the computer, which then asks nobody; quiet hours are kept here, and only hold attention back. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { displayLine } from "@custos/core/display";
import type { Model } from "../model.ts";
import { type Mute, nextMorning } from "../settings.ts";
import { explain } from "../ui/explain.ts";
import { t } from "../ui/language.ts";
import { clock } from "../ui/shown.tsx";

/** The part. */
export function Silence({ model }: { model: Model }): JSX.Element {
  const [agent, setAgent] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const now = model.now.value;
  const { quiet, mutes } = model.settings.value;
  const live = mutes.filter(({ until_ms }) => until_ms > now);
  const agents = agentsOf(model);
  const send = async (daemon: string, who: string | null, until_ms: number) => {
    const engine = await model.engine();
    await engine.send(daemon, { t: "mute", agent: who, all: who === null, until_ms });
  };
  const mute = async (until_ms: number) => {
    setProblem(null);
    const who = agent === "" ? null : agent;
    try {
      const made: Mute[] = [];
      for (const { record: { daemon } } of model.daemons.value) {
        await send(daemon, who, until_ms);
        made.push({ daemon, agent: who, until_ms });
      }
      const rest = live.filter((one) => one.agent !== who);
      await model.change({ mutes: [...rest, ...made] });
    } catch (error) {
      setProblem(explain(error));
    }
  };
  const end = async (one: Mute) => {
    setProblem(null);
    try {
      await send(one.daemon, one.agent, Date.now());
      await model.change({ mutes: live.filter((other) => other !== one) });
    } catch (error) {
      setProblem(explain(error));
    }
  };
  return (
    <>
      <section class="sheet">
        <h2>Mute</h2>
        <p>While something is muted, nobody is asked: its requests are refused on the computer.</p>
        <label for="mute-who">Who</label>
        <select id="mute-who" value={agent} onChange={({ currentTarget }) => setAgent(currentTarget.value)}>
          <option value="">Everybody</option>
          {agents.map((name) => <option value={name} key={name}>{displayLine(name, 40)}</option>)}
        </select>
        <div class="pair">
          <button type="button" onClick={() => mute(Date.now() + 3_600_000)}>{t("For 1 h")}</button>
          <button type="button" onClick={() => mute(nextMorning(new Date()))}>{t("Until morning")}</button>
        </div>
        {problem !== null && <p class="warning stop" role="alert">{problem}</p>}
        {live.map((one) => (
          <div class="beside" key={`${one.daemon} ${one.agent}`}>
            <p>
              {one.agent === null ? "Everybody" : displayLine(one.agent, 40)} until{" "}
              {clock(new Date(one.until_ms))}
            </p>
            <button type="button" onClick={() => end(one)}>{t("End")}</button>
          </div>
        ))}
      </section>
      <section class="sheet">
        <h2>Quiet hours</h2>
        <label class="check">
          <input
            type="checkbox"
            checked={quiet !== null}
            onChange={({ currentTarget }) =>
              void model.change({ quiet: currentTarget.checked ? { from: "22:00", to: "07:00" } : null })}
          />
          <span>
            No number on the icon at night
            <span class="soft block">
              Cards still come, and end when nobody answers. To have nobody asked at all, mute everybody.
            </span>
          </span>
        </label>
        {quiet !== null && (
          <div class="pair">
            <Time
              label="from"
              value={quiet.from}
              onChange={(from) => void model.change({ quiet: { ...quiet, from } })}
            />
            <Time
              label="to"
              value={quiet.to}
              onChange={(to) => void model.change({ quiet: { ...quiet, to } })}
            />
          </div>
        )}
      </section>
    </>
  );
}

function Time({ label, value, onChange }: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}): JSX.Element {
  return (
    <div>
      <label for={`quiet-${label}`}>{label}</label>
      <input
        id={`quiet-${label}`}
        type="time"
        value={value}
        onChange={({ currentTarget }) => currentTarget.value !== "" && onChange(currentTarget.value)}
      />
    </div>
  );
}

/** Names that agents gave themselves in the cards of this phone. */
function agentsOf(model: Model): string[] {
  const names = model.daemons.value.flatMap(({ record }) =>
    record.cards.map(({ message }) => message.doc.agent.name).filter((name) => name !== null)
  );
  return [...new Set(names)].sort();
}
