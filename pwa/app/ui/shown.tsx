/** Text from elsewhere on the screen: made safe, and cut in the middle with a count, never at the end (PHONE.md). */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { displayLine, displaySafe } from "@custos/core/display";
import type { RequestDoc } from "@custos/core/request";
import type { PhoneRecord } from "../../phone_store.ts";

/** A host or value in the monospace face. Never cut: a host must be readable whole. */
export function Whole({ text, class: name = "mono" }: { text: string; class?: string }): JSX.Element {
  return <bdi class={name} dir="ltr">{displaySafe(text)}</bdi>;
}

/** A long value: its beginning and its end stay. */
export function Middle(
  { text, max, class: name = "mono" }: { text: string; max: number; class?: string },
): JSX.Element {
  return <bdi class={name} dir="ltr">{displayLine(text, max)}</bdi>;
}

/** The agent's own words; long ones open in place. */
export function AgentText({ text, max = 240 }: { text: string; max?: number }): JSX.Element {
  const [open, setOpen] = useState(false);
  const whole = displaySafe(text);
  const cut = displayLine(text, max);
  return (
    <>
      <p class="agent">{open ? whole : cut}</p>
      {cut !== whole && (
        <button
          type="button"
          class="plain small"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {open ? "Show less" : "Show all of it"}
        </button>
      )}
    </>
  );
}

/** Short lines of warning, in words, most important first. */
export function Warnings({ texts }: { texts: readonly string[] }): JSX.Element | null {
  if (texts.length === 0) return null;
  return (
    <ul class="warning lines" aria-label="look at this">{texts.map((text) => <li key={text}>{text}</li>)}</ul>
  );
}

/** The three words. On a card they are its heading: it is found by them. */
export function Words({ words }: { words: string }): JSX.Element {
  return <h1 class="words" data-testid="words" lang="en">{words}</h1>;
}

/** A time of day, the same in every language: `22:05`, with seconds where they are asked for. */
export function clock(time: Date, seconds = false): string {
  const hour: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  return time.toLocaleTimeString([], seconds ? { ...hour, second: "2-digit" } : hour);
}

/** Milliseconds until a request ends, by the computer's clock; never more than its whole life. */
export function remainingOf<K>(record: PhoneRecord<K>, doc: RequestDoc, now_ms: number): number {
  const { created_ms, expires_ms } = doc;
  return Math.min(expires_ms - record.clock_offset_ms - now_ms, expires_ms - created_ms);
}

/** Time left as `m:ss`, never below zero. */
export function left(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A length of time in words. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** A number of bytes in words. */
export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1_000).toFixed(1)} KB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}
