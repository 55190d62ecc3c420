/** A run as a table for a terminal, and as `docs/bench.md`. */

import type { Machine } from "./machine.ts";
import type { Figure } from "./scenario.ts";

/** A whole run. */
export interface Report {
  machine: Machine;
  seconds: number;
  rounds: number;
  scenarios: { name: string; method: string; figures: Figure[]; notes: string[] }[];
}

/** A value with as many digits as mean something. */
export function shown({ value, unit }: Pick<Figure, "value" | "unit">): string {
  const digits = Math.abs(value) >= 100
    ? 0
    : Math.abs(value) >= 10
    ? 1
    : unit === "×" && Math.abs(value) < 1
    ? 3
    : 2;
  return `${
    value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })
  } ${unit}`;
}

function verdict({ bar }: Figure): string {
  return bar === undefined ? "" : `${bar.met ? "met" : "NOT MET"} (${bar.text})`;
}

const CROWDED =
  " Other programs used the cores and the disk meanwhile, which hurts custos most, as it alone waits for the disk: " +
  "compare the CPU time of a request, and measure again on a quiet machine.";

function machineLine({ machine, seconds, rounds }: Report): string {
  const { date, cores, cpu, system, deno, programs, load } = machine;
  const others = Object.entries(programs).map(([name, version]) => `${name} ${version}`).join(", ");
  const busy = load === null ? "" : ` Load before the run: ${load}.${load > 1 ? CROWDED : ""}`;
  return `${date} UTC, ${cores} cores of ${cpu}, ${system}, Deno ${deno}${
    others === "" ? "" : `, ${others}`
  }. ` +
    `Loads of ${seconds} s, medians of ${rounds} rounds.${busy}`;
}

/** For a terminal. */
export function asText(report: Report): string {
  const lines = [machineLine(report)];
  for (const { name, figures, notes } of report.scenarios) {
    lines.push("", name);
    const width = Math.max(0, ...figures.map((figure) => figure.name.length));
    for (const figure of figures) {
      lines.push(
        `  ${figure.name.padEnd(width)}  ${shown(figure).padStart(18)}  ${verdict(figure)}`.trimEnd(),
      );
    }
    for (const note of notes) lines.push(`  ${note}`);
  }
  return lines.join("\n");
}

const HOW = `# Bench

How fast custos is, held against the bars of its design. This page is written by \`deno task bench --write\`; do not edit it by hand.

**What to make of the figures.** They are of one run on one machine. Absolute numbers change from machine to machine; the ratios to nginx
and mitmproxy, which were measured in the same run in turns, change less. nginx does nothing but add a header, so it is the limit of what a
proxy can do. mitmproxy with a script is what a person would otherwise use. A bar that is not met says so.

**How the daemon is reached.** Load generators speak TCP, and the daemon only a unix socket. So the bench loads a module before the daemon
that serves the same handler on a loopback port as well (\`bench/tcp_door.ts\`). All else is as installed: the daemon's own flags, a real
relay, a paired software phone, a secret of 41 characters with a live grant that the phone signed, one \`wrk\` for all with one thread. The
upstream API is an nginx on the same machine that serves files. Everything shares the machine's cores.
`;

/** As the page in the docs. */
export function asMarkdown(report: Report): string {
  const parts = [HOW, `**This run.** ${machineLine(report)}`, "![Requests per second](bench.svg)"];
  for (const { name, method, figures, notes } of report.scenarios) {
    parts.push(`## ${name}`, method);
    if (figures.length > 0) {
      const rows = figures.map((figure) => `| ${figure.name} | ${shown(figure)} | ${verdict(figure)} |`);
      parts.push(["| what | figure | bar |", "|---|---:|---|", ...rows].join("\n"));
    }
    if (notes.length > 0) parts.push(notes.map((note) => `Missing or left out: ${note}.`).join("\n"));
  }
  return parts.map((part) => part.trimEnd()).join("\n\n") + "\n";
}
