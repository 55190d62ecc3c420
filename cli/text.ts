/** Small pieces of text for people: times, numbers, plurals, emphasis. Pure. */

import { displaySafe } from "@custos/core/display";

/** A length of time in its largest fitting unit: `14 min`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

/** `14:32`, or `1:02:03` above an hour. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** How long ago something was: `14 min ago`. */
export function ago(then: number, now: number): string {
  return now - then < 1_500 ? "just now" : `${duration(now - then)} ago`;
}

/** Local date and time: `2026-11-30 21:02:41`. */
export function stamp(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Local time of day, with the date where it is not today. */
export function clock(ms: number, now: number): string {
  const [day, time] = stamp(ms).split(" ");
  const short = time!.slice(0, 5);
  return stamp(now).startsWith(day!) ? short : `${day} ${short}`;
}

/** `1 request`, `2 requests`. */
export function count(value: number, one: string, many: string = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** A whole number with groups of three: `1,204`. */
export function number(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Bold where colours are allowed. The text must be safe to show. */
export function bold(text: string, colour: boolean): string {
  return colour ? `\x1b[1m${text}\x1b[22m` : text;
}

/** Faint where colours are allowed. The text must be safe to show. */
export function faint(text: string, colour: boolean): string {
  return colour ? `\x1b[2m${text}\x1b[22m` : text;
}

/** Somebody else's words, marked as such and safe to show. */
export function quoted(text: string): string {
  return `"${displaySafe(text)}"`;
}

/** Lines of `label  text` with the labels in one column. */
export function rows(pairs: readonly (readonly [string, string])[], indent = "  "): string {
  const width = Math.max(...pairs.map(([label]) => label.length));
  return pairs.map(([label, text]) => `${indent}${label.padEnd(width)}  ${text}\n`).join("");
}
