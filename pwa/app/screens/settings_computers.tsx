/** The computers that this phone decides for: the devices of each, its recovery sheet, and the way out. */

import type { JSX } from "preact";
import { displayLine } from "@custos/core/display";
import type { DaemonView, Model } from "../model.ts";
import { Confirm } from "../ui/confirm.tsx";
import { t } from "../ui/language.ts";
import { clock } from "../ui/shown.tsx";

/** What the part needs. */
export interface ComputersProps {
  model: Model;
  onPair: () => void;
}

/** The part. */
export function Computers({ model, onPair }: ComputersProps): JSX.Element {
  return (
    <>
      {model.daemons.value.map((daemon) => (
        <Computer key={daemon.record.daemon} model={model} daemon={daemon} />
      ))}
      <button type="button" onClick={onPair}>{t("Add another computer")}</button>
    </>
  );
}

const LINES = {
  connecting: "connecting…",
  connected: "the relay is reached",
  unreachable: "the relay cannot be reached",
  stopped: "the relay refuses this phone",
} as const;

function Computer({ model, daemon }: { model: Model; daemon: DaemonView }): JSX.Element {
  const { record, line } = daemon;
  const { state, records } = record.log;
  const used = records.filter(({ entry }) => entry.body.type === "recovery_use").length;
  const heard = record.daemon_now_ms === 0
    ? "not heard from yet"
    : `last heard ${when(record.daemon_now_ms - record.clock_offset_ms)}`;
  return (
    <section class="sheet" data-testid="computer" aria-label={state.daemon_name}>
      <h2>{displayLine(state.daemon_name, 64)}</h2>
      <p class="soft">{LINES[line]} · {heard}</p>
      <h3>Devices</h3>
      <ul class="rows devices">
        {[...state.devices.values()].map(({ device_id, name, platform, added_ms }) => (
          <li key={device_id}>
            <strong>{displayLine(name, 64)}</strong>
            {device_id === record.device && <span class="mark">this one</span>}
            <span class="soft block">{displayLine(platform, 40)} · since {when(added_ms)}</span>
          </li>
        ))}
      </ul>
      <p class="soft">
        Another device is removed on the computer: <code class="mono">custos devices</code>
      </p>
      <h3>Recovery sheet</h3>
      <p>
        {state.recovery === null
          ? "There is none. If this phone is lost, the secrets are lost."
          : used === 0
          ? "Made and proven when the first phone was paired. It was never used."
          : `It was used ${used === 1 ? "once" : `${used} times`}.`}
      </p>
      <Confirm
        label="Forget this computer"
        said="Forget this computer on this phone? It can decide nothing more for it. On the computer the device stays listed until it is removed there, and the passkey stays in this device's settings."
        yes="Forget it"
        onYes={() => model.forget(record.daemon)}
      />
    </section>
  );
}

function when(ms: number): string {
  const time = new Date(ms);
  return `${time.toLocaleDateString([], { day: "numeric", month: "short" })}, ${clock(time)}`;
}
