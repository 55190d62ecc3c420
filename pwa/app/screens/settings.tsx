/** Settings: lock, computers and their devices, silence, and how this app looks and checks. */

import type { JSX } from "preact";
import type { Model } from "../model.ts";
import { updateReady } from "../updates.ts";
import { Confirm } from "../ui/confirm.tsx";
import { Frame } from "../ui/frame.tsx";
import { t } from "../ui/language.ts";
import { Computers } from "./settings_computers.tsx";
import { Push } from "./settings_push.tsx";
import { Silence } from "./settings_silence.tsx";
import type { Settings } from "../settings.ts";

/** What the screen needs. */
export interface SettingsProps {
  model: Model;
  onPair: () => void;
}

/** The screen. */
export default function SettingsScreen({ model, onPair }: SettingsProps): JSX.Element {
  const { theme, word_check } = model.settings.value;
  const apply = updateReady.value;
  const lock = async () => {
    const engine = await model.engine();
    const sent = await Promise.allSettled(
      model.daemons.value.map(({ record }) => engine.send(record.daemon, { t: "lock" })),
    );
    for (const one of sent) if (one.status === "rejected") throw one.reason;
  };
  return (
    <Frame name="settings" title="Settings">
      <h1>{t("Settings")}</h1>
      {apply !== null && (
        <section class="sheet">
          <h2>A new version is ready</h2>
          <p>This page goes on with the old one until you say so.</p>
          <button type="button" class="primary" onClick={apply}>{t("Update")}</button>
        </section>
      )}
      <section class="sheet">
        <h2>Lock</h2>
        <p>Ends every grant at once. Requests that are on their way are cut off.</p>
        <Confirm
          label="Lock now"
          said="Lock now? Every grant ends, and agents must ask again."
          yes="Lock now"
          done="Locked. Every grant has ended, as soon as the computer hears of it."
          onYes={lock}
        />
      </section>
      <Computers model={model} onPair={onPair} />
      <Silence model={model} />
      <Push model={model} />
      <section class="sheet">
        <h2>Cards</h2>
        <label class="check">
          <input
            type="checkbox"
            checked={word_check}
            onChange={({ currentTarget }) => void model.change({ word_check: currentTarget.checked })}
          />
          <span>
            Pick the first word before Approve
            <span class="soft block">
              The card hides its first word and offers four. It cannot be answered without a look at the
              computer.
            </span>
          </span>
        </label>
      </section>
      <section class="sheet">
        <h2>Looks</h2>
        <fieldset class="choices">
          <legend>Theme</legend>
          {(["system", "light", "dark"] as const).map((value: Settings["theme"]) => (
            <label key={value}>
              <input
                type="radio"
                name="theme"
                checked={theme === value}
                onChange={() => void model.change({ theme: value })}
              />
              {t(value === "system" ? "As the system" : value === "light" ? "Light" : "Dark")}
            </label>
          ))}
        </fieldset>
      </section>
    </Frame>
  );
}
