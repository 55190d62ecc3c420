/** What a person has set on this phone. Nothing of it leaves the phone, but for a mute, which the computer keeps. */

/** A daily span during which nothing calls for attention, as local `HH:MM`. */
export interface QuietHours {
  from: string;
  to: string;
}

/** A mute that this phone has asked for. */
export interface Mute {
  daemon: string;
  /** The agent's name; `null` is everybody. */
  agent: string | null;
  until_ms: number;
}

/** The settings. */
export interface Settings {
  theme: "system" | "light" | "dark";
  quiet: QuietHours | null;
  /** Approve only after the first of the three words was picked out of four. */
  word_check: boolean;
  mutes: Mute[];
}

/** The name under which they are stored. */
export const SETTINGS_NAME = "settings";

/** Where nothing was set. */
export const FIRST_SETTINGS: Settings = { theme: "system", quiet: null, word_check: false, mutes: [] };

/** Reads what was stored. What is odd in it is as if it was never set. */
export function readSettings(stored: unknown): Settings {
  const value = (typeof stored === "object" && stored !== null ? stored : {}) as Partial<Settings>;
  const { theme, quiet, word_check, mutes } = value;
  return {
    theme: theme === "light" || theme === "dark" ? theme : "system",
    quiet: isTime(quiet?.from) && isTime(quiet.to) ? { from: quiet.from, to: quiet.to } : null,
    word_check: word_check === true,
    mutes: Array.isArray(mutes) ? mutes.filter((mute) => typeof mute?.until_ms === "number") : [],
  };
}

/** Whether a moment is within quiet hours; they may pass midnight. Equal ends are no hours at all. */
export function isQuiet(quiet: QuietHours | null, at: Date): boolean {
  if (quiet === null) return false;
  const now = at.getHours() * 60 + at.getMinutes();
  const [from, to] = [minutes(quiet.from), minutes(quiet.to)];
  return from <= to ? from <= now && now < to : from <= now || now < to;
}

/** Seven o'clock in the morning that comes next, in milliseconds. */
export function nextMorning(now: Date): number {
  const morning = new Date(now);
  morning.setHours(7, 0, 0, 0);
  if (morning <= now) morning.setDate(morning.getDate() + 1);
  return morning.getTime();
}

function isTime(text: unknown): text is string {
  return typeof text === "string" && /^([01]\d|2[0-3]):[0-5]\d$/.test(text);
}

function minutes(time: string): number {
  const [hours, rest] = time.split(":").map(Number);
  return hours! * 60 + rest!;
}
