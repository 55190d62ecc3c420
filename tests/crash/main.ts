/**
 * `deno task crash [--points N] [--seed S] [--jobs J] [--json]`: kills the daemon at random moments of a whole life, starts it
 * again, and checks what must be true. Exit code 1 where something was not. A failure names its life: `--seed` with that
 * number and `--jobs 1` begins with it.
 */

import { crash, type Point } from "./run.ts";

const DEFAULT_POINTS = 1_000;

function option(name: string, otherwise: number): number {
  const at = Deno.args.indexOf(`--${name}`);
  if (at === -1) return otherwise;
  const value = Number(Deno.args[at + 1]);
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new RangeError(`--${name} takes a whole number from 1 on.`);
  }
  return value;
}

const json = Deno.args.includes("--json");
const say = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
const show = ({ life, step, moment, failure }: Point) =>
  `life ${life}, ${step}, ${JSON.stringify(moment)}: ${failure ?? "ok"}`;

const points = option("points", DEFAULT_POINTS);
const seed = option("seed", Math.floor(Date.now() / 1_000));
const started = performance.now();
if (!json) say(`Killing the daemon ${points} times, from seed ${seed}.`);
const done = await crash({
  points,
  seed,
  jobs: option("jobs", 2),
  onPoint: (point, count) => {
    if (point.failure !== null && !json) say(show(point));
    if (count % 50 === 0 && !json) say(`${count} of ${points}`);
  },
});
const kills = done.filter(({ moment }) => moment !== null);
const failures = done.filter(({ failure }) => failure !== null);
const seconds = Math.round((performance.now() - started) / 1_000);
if (json) {
  say(JSON.stringify({
    points: kills.length,
    lives: new Set(done.map(({ life }) => life)).size,
    failures,
    seed,
    seconds,
  }));
} else {
  const kinds = Map.groupBy(kills, ({ moment }) => moment!.kind);
  for (const [kind, of] of kinds) say(`  ${of.length} by ${kind}`);
  for (const [step, of] of Map.groupBy(kills, (point) => point.step)) say(`  ${of.length} in ${step}`);
  say(`${kills.length} points, ${failures.length} failures, ${seconds} s`);
}
Deno.exit(failures.length === 0 ? 0 : 1);
