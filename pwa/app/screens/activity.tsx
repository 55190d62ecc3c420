/**
 * What happened, a day at a time. Every entry was hashed on this phone, and the line with the shield says how far the
 * computer's signed log and this phone's own count agree (DESIGN §6.5).
 */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type AuditKind, type AuditLine, auditLine } from "../../audit_text.ts";
import type { DaemonView, Model } from "../model.ts";
import { Frame } from "../ui/frame.tsx";
import { t } from "../ui/language.ts";
import { Shield } from "../ui/shield.tsx";
import { clock } from "../ui/shown.tsx";

const KINDS: readonly (readonly [AuditKind | "all", string])[] = [
  ["all", "Everything"],
  ["asked", "Asked"],
  ["answered", "Answered"],
  ["sent", "Sent"],
  ["computer", "Computer"],
];

interface Shown extends AuditLine {
  index: number;
  /** By the computer's clock; `null` where the entry cannot be read. */
  time: Date | null;
}

/** The screen. */
export default function ActivityScreen({ model }: { model: Model }): JSX.Element {
  const daemons = model.daemons.value;
  const [at, setAt] = useState(0);
  const [kind, setKind] = useState<AuditKind | "all">("all");
  const [back, setBack] = useState(0);
  const daemon = daemons[Math.min(at, daemons.length - 1)];
  const id = daemon?.record.daemon;
  useEffect(() => {
    if (id === undefined) return;
    model.engine().then((engine) => engine.send(id, { t: "activity", from: model.activityFrom(id) })).catch(
      () => {},
    );
  }, [id]);
  if (daemon === undefined) return <Frame name="activity" title="Activity">Nothing is paired.</Frame>;
  const lines = linesOf(daemon);
  const days = [...new Set(lines.map(({ time }) => dayOf(time)))];
  const day = days[Math.min(back, days.length - 1)];
  const shown = lines.filter((line) => dayOf(line.time) === day && (kind === "all" || line.kind === kind));
  return (
    <Frame name="activity" title="Activity">
      <h1>{t("Activity")}</h1>
      <Checked daemon={daemon} />
      {daemons.length > 1 && (
        <select
          aria-label="computer"
          value={String(at)}
          onChange={({ currentTarget }) => setAt(Number(currentTarget.value))}
        >
          {daemons.map(({ record }, index) => (
            <option value={String(index)} key={record.daemon}>{record.log.state.daemon_name}</option>
          ))}
        </select>
      )}
      <fieldset class="choices">
        <legend class="unseen">Show</legend>
        {KINDS.map(([value, text]) => (
          <label key={value}>
            <input type="radio" name="kind" checked={kind === value} onChange={() => setKind(value)} />
            {text}
          </label>
        ))}
      </fieldset>
      {day !== undefined && (
        <div class="days beside">
          <button
            type="button"
            disabled={back >= days.length - 1}
            onClick={() => setBack(back + 1)}
            aria-label="the day before"
          >
            ‹
          </button>
          <h2 aria-live="polite">{day}</h2>
          <button
            type="button"
            disabled={back === 0}
            onClick={() => setBack(Math.max(0, back - 1))}
            aria-label="the day after"
          >
            ›
          </button>
        </div>
      )}
      {lines.length === 0
        ? <p class="soft" role="status">Waiting for the computer's log…</p>
        : shown.length === 0 && <p class="soft">Nothing of this kind on this day.</p>}
      <ol class="log" aria-label="entries, newest first">
        {shown.map((line) => (
          <li key={line.index} class={line.odd ? "odd" : ""} data-kind={line.kind}>
            <time>
              {line.time === null ? "?" : clock(line.time)}
            </time>
            <span>{line.odd && <strong>Look:</strong>} {line.text}</span>
          </li>
        ))}
      </ol>
    </Frame>
  );
}

/** How far the log was checked, in words. */
function Checked({ daemon }: { daemon: DaemonView }): JSX.Element {
  const { alarm, activity: { checked, tree }, audit_head } = daemon.record;
  if (alarm === "audit_log_forked" || alarm === "audit_log_cut") {
    return (
      <p class="warning stop" role="alert">
        {alarm === "audit_log_cut"
          ? "The computer's log got shorter than this phone has seen. "
          : "The computer's log is not the one that it signed. "}
        Nothing is approved from this phone. If you did not restore a backup, look at the computer.
      </p>
    );
  }
  const behind = Math.max(tree.size, audit_head.size) - checked;
  return (
    <p class="checked">
      <Shield />
      <span>
        {checked === 0
          ? "Not checked yet."
          : `Checked up to entry ${checked}: this phone counted the same log that the computer signed.`}
        {checked > 0 && behind > 0 &&
          ` ${behind} more ${behind === 1 ? "entry is" : "entries are"} not checked yet.`}
      </span>
    </p>
  );
}

/** Entries, newest first. */
function linesOf({ record }: DaemonView): Shown[] {
  const name = (id: string) => record.log.state.devices.get(id)?.name ?? "a device that was removed";
  return record.activity.leaves.map(({ index, leaf }) =>
    leaf === null
      ? {
        index,
        time: null,
        kind: "computer" as const,
        odd: true,
        text: "An entry that this version cannot read.",
      }
      : { index, time: new Date(leaf.time_ms), ...auditLine(leaf, name) }
  ).reverse();
}

function dayOf(time: Date | null): string {
  if (time === null) return "Unknown day";
  const day = time.toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
  return time.toDateString() === new Date().toDateString() ? "Today" : day;
}
