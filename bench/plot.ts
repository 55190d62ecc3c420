/** One picture of a run: requests per second of custos and its peers, on a logarithmic scale, as SVG of our own making. */

import type { Report } from "./report.ts";

const WHO = ["custos", "mitmproxy", "nginx"] as const;
const COLOURS: Record<typeof WHO[number], string> = {
  custos: "#0b7285",
  mitmproxy: "#adb5bd",
  nginx: "#dee2e6",
};
const BAR = 18;
const LEFT = 250;
const WIDTH = 820;

/** Groups of bars by what was measured, from the figures in requests per second. */
function groups(report: Report): { what: string; bars: { who: typeof WHO[number]; value: number }[] }[] {
  const found = new Map<string, Map<string, number>>();
  for (const { name, value, unit } of report.scenarios.flatMap(({ figures }) => figures)) {
    if (unit !== "requests/s") continue;
    const who = WHO.find((one) => name.endsWith(`, ${one}`));
    if (who === undefined) continue;
    const what = name.slice(0, -who.length - 2);
    found.set(what, (found.get(what) ?? new Map()).set(who, value));
  }
  return [...found].map(([what, values]) => ({
    what,
    bars: WHO.filter((who) => values.has(who)).map((who) => ({ who, value: values.get(who)! })),
  }));
}

function text(x: number, y: number, words: string, more = ""): string {
  return `<text x="${x}" y="${y}" ${more}>${words.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</text>`;
}

/** The picture. It has no script and no outside reference. */
export function plot(report: Report): string {
  const all = groups(report);
  const most = Math.max(10, ...all.flatMap(({ bars }) => bars.map(({ value }) => value)));
  const decades = Math.ceil(Math.log10(most));
  const x = (value: number) =>
    LEFT + Math.max(0, Math.log10(Math.max(1, value)) / decades) * (WIDTH - LEFT - 110);
  const parts: string[] = [];
  let y = 60;
  for (const { what, bars } of all) {
    parts.push(text(LEFT - 10, y + (bars.length * BAR) / 2 + 4, what, 'text-anchor="end"'));
    for (const { who, value } of bars) {
      const width = (x(value) - LEFT).toFixed(1);
      parts.push(`<rect x="${LEFT}" y="${y}" width="${width}" height="${BAR - 3}" fill="${COLOURS[who]}"/>`);
      parts.push(
        text(
          x(value) + 6,
          y + BAR - 6,
          `${Math.round(value).toLocaleString("en")} ${who}`,
        ),
      );
      y += BAR;
    }
    y += 14;
  }
  const grid = Array.from({ length: decades + 1 }, (_, power) => {
    const at = x(10 ** power).toFixed(1);
    const label = text(
      Number(at),
      50,
      (10 ** power).toLocaleString("en"),
      'text-anchor="middle" fill="#868e96"',
    );
    return `<line x1="${at}" x2="${at}" y1="55" y2="${y}" stroke="#e9ecef"/>${label}`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${
      y + 10
    }" font-family="sans-serif" font-size="12" fill="#212529">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    text(10, 24, "Requests per second, logarithmic scale", 'font-size="15" font-weight="bold"'),
    ...grid,
    ...parts,
    "</svg>\n",
  ].join("\n");
}
