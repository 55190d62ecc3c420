/**
 * The lines of `custos watch`. Pure: the same snapshot, time and size give the same lines. Agents choose names, reasons and
 * paths, so every text of theirs goes through `displaySafe` and into one row of its own (B103, B104, B106).
 */

import { displayLine, displaySafe } from "@custos/core/display";
import type { GrantView } from "@custos/rpc/inventory_schemas";
import type { RequestView } from "@custos/rpc/request_schemas";
import { sentence } from "./log_text.ts";
import { bold, clock, count, countdown, faint, quoted } from "./text.ts";
import type { Size } from "./screen.ts";
import { agentLine, deliveryNote, grantLine } from "./views.ts";
import type { LogItem, Snapshot } from "./watch_data.ts";
import { ends, fit, width } from "./width.ts";

/** What is shown when. */
export interface Look extends Size {
  now: number;
  colour: boolean;
}

/** Rows of one pending card. */
const CARD_ROWS = 3;

/** Exactly `look.rows` lines of at most `look.columns` columns. */
export function watchLines(snapshot: Snapshot, look: Look): string[] {
  const { columns, rows, colour } = look;
  const { pending, grants } = snapshot;
  const told = snapshot.recent.filter(({ leaf }) => !QUIET.has(leaf.event));
  // head, three titles with a blank row before each, foot
  const free = Math.max(0, rows - 8);
  // At least a third is left for what is granted and what happened.
  const cards = fitting(pending.length, CARD_ROWS, Math.floor((free * 2) / 3));
  const after_cards = free - rowsOf(pending.length, cards, CARD_ROWS);
  const shown_grants = fitting(grants.length, 1, Math.max(1, Math.floor(after_cards / 2)));
  const left = after_cards - rowsOf(grants.length, shown_grants, 1);
  const lines = [
    head(snapshot, look),
    "",
    title(`Waiting for the phone: ${pending.length}`, look),
    ...section(
      pending.slice(0, cards).flatMap((request) => card(request, look)),
      pending.length - cards,
      "older",
      look,
    ),
    "",
    title(`Granted now: ${grants.length}`, look),
    ...section(
      grants.slice(0, shown_grants).map((grant) => grantRow(grant, look)),
      grants.length - shown_grants,
      "more",
      look,
    ),
    "",
    title("Recent", look),
    ...told.slice(Math.max(0, told.length - Math.max(1, left))).map((item) =>
      logRow(item, snapshot.names, look)
    ),
  ];
  const foot = faint(
    fit("q quits. Requests are approved on the phone, where the words must be the same.", columns),
    colour,
  );
  return fill(lines, rows, foot);
}

/** The same frame where the daemon does not answer: what was shown before is not known to be true any more. */
export function lostLines(why: string, look: Look): string[] {
  const { columns, rows, colour, now } = look;
  const lines = [
    bold(ends("custos", clock(now, now), columns), colour),
    "",
    ...wrapped(displaySafe(why), columns),
    "",
    fit("It is tried again every two seconds. What is wrong: custos doctor", columns),
  ];
  return fill(lines, rows, faint(fit("q quits.", columns), colour));
}

function head({ status }: Snapshot, look: Look): string {
  const phones = status.devices === 0 ? "no phone" : count(status.devices, "phone");
  const lock = status.locked || status.channels.some(({ locked }) => locked) ? " · CHANNEL LOCKED" : "";
  const right = `relay ${status.relay.state} · ${phones}${lock} · ${clock(look.now, look.now)}`;
  const left = `custos on ${displayLine(status.name, 40)}`;
  return bold(ends(left, right, look.columns), look.colour);
}

function title(text: string, { columns, colour }: Look): string {
  return bold(fit(text, columns), colour);
}

/** Rows of a list, and how many are not shown. An empty one says so. */
function section(rows: string[], hidden: number, word: string, { columns, colour }: Look): string[] {
  if (hidden > 0) return [...rows, faint(fit(`  and ${hidden} ${word}`, columns), colour)];
  return rows.length > 0 ? rows : [faint(fit("  nothing", columns), colour)];
}

function card(request: RequestView, { columns, colour, now }: Look): string[] {
  const time = `${countdown(request.expires_ms - now)} left`;
  const what = request.handle ?? request.name ?? "";
  const words = displaySafe(request.fingerprint);
  const first = ends(`  ${words}   ${request.type} ${displayLine(what, 40)}`, time, columns);
  const call = request.url === undefined
    ? ""
    : displayLine(`${request.method ?? ""} ${request.url}`, Math.max(20, columns - 6));
  const who = agentLine(request.agent);
  const note = deliveryNote(request.delivery);
  const why = note === "" ? `${who}: ${quoted(request.reason)}` : note;
  return [
    colour ? first.replace(words, bold(words, true)) : first,
    fit(call === "" ? `    ${who}` : `    ${call}`, columns),
    faint(fit(`    ${call === "" && note === "" ? quoted(request.reason) : why}`, columns), colour),
  ];
}

function grantRow(grant: GrantView, { columns, now }: Look): string {
  return fit(`  ${displaySafe(grant.handle)}  ${grantLine(grant, now)}`, columns);
}

/** Steps that the line after them tells as well. */
const QUIET: ReadonlySet<string> = new Set(["send_started", "card_sent"]);
/** Events that a person compares by their words; the others are told by what was called. */
const WORDED: ReadonlySet<string> = new Set([
  "request_created",
  "request_joined",
  "granted",
  "denied",
  "expired",
  "withdrawn",
]);

function logRow({ leaf }: LogItem, names: Snapshot["names"], { columns, now }: Look): string {
  const device = leaf.device === undefined ? undefined : names[leaf.device] ?? leaf.device;
  const words = WORDED.has(leaf.event) && leaf.fingerprint !== undefined
    ? `  ${displaySafe(leaf.fingerprint)}`
    : "";
  const first = `  ${clock(leaf.time_ms, now)}  ${sentence({ ...leaf, device })}${words}`;
  const room = columns - width(first) - 2;
  const origin = (leaf.origin ?? "").replace(/^https:\/\//, "");
  const call = `${leaf.method ?? ""} ${origin}${leaf.path ?? ""}`.trim() || (leaf.handle ?? "");
  return fit(call === "" || room < 16 ? first : `${first}  ${displayLine(call, room)}`, columns);
}

/** How many of `total` items fit, with a row for the ones that do not. */
function fitting(total: number, each: number, rows: number): number {
  if (total * each <= rows) return total;
  return Math.max(total > 0 ? 1 : 0, Math.floor((rows - 1) / each));
}

function rowsOf(total: number, shown: number, each: number): number {
  return total === 0 ? 1 : shown * each + (shown < total ? 1 : 0);
}

function fill(lines: string[], rows: number, foot: string): string[] {
  const body = lines.slice(0, Math.max(0, rows - 1));
  return [...body, ...Array<string>(Math.max(0, rows - 1 - body.length)).fill(""), foot].slice(-rows);
}

function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < columns) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines.map((line) => fit(line, columns));
}
