/** Many lives, each with a daemon that is killed once in every step. */

import type { Bytes } from "@custos/core/bytes";
import { filesBelow } from "../e2e/harness_files.ts";
import { leaks } from "../e2e/harness_leaks.ts";
import { S, Stage } from "../relay_malice/stage.ts";
import { check } from "./checks.ts";
import { Life } from "./life.ts";
import { drawMoment, type Moment, Trigger, type Usual } from "./moments.ts";
import { between, seeded } from "./random.ts";

/** The steps of a life, in order, and how they went where nobody was killed. */
const SCRIPT: readonly (readonly [keyof Steps, Usual])[] = [
  ["pair", { ms: 1_000, daemon: 12, phone: 10, answers: 3 }],
  ["drop", { ms: 250, daemon: 12, phone: 14, answers: 1 }],
  ["once", { ms: 400, daemon: 11, phone: 12, answers: 1 }],
  ["deny", { ms: 80, daemon: 4, phone: 5, answers: 1 }],
  ["lock", { ms: 330, daemon: 8, phone: 11, answers: 3 }],
  ["policy", { ms: 150, daemon: 7, phone: 9, answers: 1 }],
  ["restart", { ms: 950, daemon: 8, phone: 9, answers: 1 }],
  ["once", { ms: 400, daemon: 11, phone: 12, answers: 1 }],
];
type Steps = Pick<Life, "pair" | "drop" | "once" | "deny" | "lock" | "policy" | "restart">;

/** One kill. `failure` is what was not true afterwards. */
export interface Point {
  life: number;
  step: string;
  /** `null` at the end of a life, where nobody is killed. */
  moment: Moment | null;
  failure: string | null;
}

/** Options of a run. */
export interface RunOptions {
  points: number;
  seed: number;
  /** Lives at a time. */
  jobs: number;
  /** Hears of each point. */
  onPoint?: (point: Point, done: number) => void;
}

/** Runs lives until there were so many kills. Each life has a seed of its own, so that it can be run again alone. */
export async function crash({ points, seed, jobs, onPoint }: RunOptions): Promise<Point[]> {
  const done: Point[] = [];
  let life = seed;
  const worker = async () => {
    while (done.length < points) {
      await live(life++, (point) => {
        done.push(point);
        onPoint?.(point, done.length);
        return done.length < points;
      });
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return done;
}

/** One life. `onPoint` says whether to go on; a life ends early where something was not true. */
async function live(seed: number, onPoint: (point: Point) => boolean): Promise<void> {
  const random = seeded(seed);
  const stage = await Stage.open();
  const life = new Life(stage);
  let leaves: Bytes[] = [];
  try {
    await stage.startDaemon();
    for (const [step, usual] of SCRIPT) {
      for (let more = step === "pair" ? 1 : between(random, 1, 2); more > 0; more--) {
        const moment = drawMoment(random, usual);
        const asked = new Set<string>();
        let failure: string | null = null;
        try {
          await strike(life, step, moment, asked);
          leaves = await check(life, leaves, asked);
        } catch (error) {
          failure = error instanceof Error ? error.message : String(error);
        }
        if (!onPoint({ life: seed, step, moment, failure }) || failure !== null) return;
      }
    }
    const failure = await ends(life).then(() => null, (error) => String(error));
    if (failure !== null) onPoint({ life: seed, step: "end", moment: null, failure });
  } finally {
    await stage[Symbol.asyncDispose]();
  }
}

/** Runs one step and kills the daemon at the moment. Returns when the step is over and the daemon runs again. */
async function strike(life: Life, step: keyof Steps, moment: Moment, asked: Set<string>): Promise<void> {
  const { stage } = life;
  const risen = Promise.withResolvers<void>();
  risen.promise.catch(() => {});
  life.risen = risen.promise;
  const trigger = life.trigger = new Trigger(moment, () => {
    for (const id of life.facts.asked) asked.add(id);
    kill(stage).then(() => stage.startDaemon()).then(risen.resolve, risen.reject);
  });
  try {
    await life[step]();
  } finally {
    trigger.end();
    await risen.promise;
    life.trigger = null;
  }
}

async function kill({ process }: Stage): Promise<void> {
  try {
    process?.kill("SIGKILL");
  } catch {
    // it has ended already: the step stops it itself
  }
  await process?.status;
}

/** At the end of a life everything still works, and the secret is in no file. */
async function ends(life: Life): Promise<void> {
  await life.stage.recovers("/once/last");
  for (const [path, text] of await filesBelow(life.stage.folder)) {
    if (leaks(text, S).length > 0) throw new Error(`The secret is in ${path}.`);
  }
}
