/** Memory of the daemon: idle, and with 1, 10 and 50 cells; and whether many cells slow one request down. */

import { paramsOf, rpcCall } from "../calls.ts";
import { BenchHouse } from "../house.ts";
import { putLoad } from "../load.ts";
import { Kernel, NO_MEMORY } from "../memory.ts";
import { Peers, SECRET } from "../peers.ts";
import {
  atMost,
  type Figure,
  median,
  megabytes,
  type Outcome,
  type Scenario,
  type Settings,
} from "../scenario.ts";

const COUNTS = [1, 10, 50] as const;
/** At most 20 cards an hour for one agent (DESIGN §5.2), and each secret is asked for with one. */
const SECRETS_PER_AGENT = 15;

/** Gives a house secrets until it has `count`, each with a cell that has sent one request. */
async function fill(house: BenchHouse, origin: string, from: number, count: number): Promise<void> {
  for (let i = from; i < count; i++) {
    const agent = `bench-${Math.floor(i / SECRETS_PER_AGENT)}`;
    await house.secret(`bench-${i}`, `${SECRET}${i}`, origin, agent);
    const params = paramsOf(`bench-${i}`, "GET", `${origin}/1k`);
    await house.house.client.call("http.request", { ...params, agent: { name: agent } });
  }
}

/** Cells. */
export const cells: Scenario = {
  name: "cells",
  method:
    "Resident memory of the daemon a moment after pairing, then with 1, 10 and 50 secrets whose cells have each sent one request. " +
    "Then GETs of 1 KB with the first of them, 16 at a time, in turns with a daemon that has one cell.",
  async run({ folder, seconds, rounds, tell }: Settings): Promise<Outcome> {
    await using peers = await Peers.start(folder);
    await using kernel = new Kernel();
    await using many = await BenchHouse.start();
    const settled = async () => {
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      return megabytes(await kernel.held(many.pid) ?? 0);
    };
    const idle = await settled();
    if (idle === 0) return { figures: [], notes: [NO_MEMORY] };
    const figures: Figure[] = [atMost("daemon, paired and idle", idle, "MB", 90, "≤ 90 MB")];
    const memory: number[] = [];
    for (const [i, count] of COUNTS.entries()) {
      await fill(many, peers.upstream, i === 0 ? 0 : COUNTS[i - 1]!, count);
      const now = await settled();
      tell(`${count} cells: ${now.toFixed(0)} MB`);
      memory.push(now);
      figures.push({
        name: `daemon with ${count} ${count === 1 ? "cell" : "cells"}`,
        value: now,
        unit: "MB",
      });
    }
    const each = (memory.at(-1)! - memory[0]!) / (COUNTS.at(-1)! - COUNTS[0]);
    figures.push(atMost("one cell more, from 1 to 50", each, "MB", 12, "≤ 12 MB a cell"));

    await using few = await BenchHouse.start();
    await fill(few, peers.upstream, 0, 1);
    const slower: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const p50: number[] = [];
      for (const house of [few, many]) {
        const params = { ...paramsOf("bench-0", "GET", `${peers.upstream}/1k`), agent: { name: "bench-0" } };
        const measured = await putLoad(folder, { ...rpcCall(house.url, params), at_once: 16, seconds });
        if (measured === null) {
          return { figures, notes: ["wrk is missing, so requests beside many cells were not measured"] };
        }
        p50.push(measured.p50_ms);
      }
      if (round > 0) slower.push((p50[1]! / p50[0]! - 1) * 100);
    }
    figures.push({ name: "a request beside 50 cells slower by, p50", value: median(slower), unit: "%" });
    return { figures, notes: [] };
  },
};
