/** Memory of the daemon: idle, and with 1, 10 and 50 cells; and whether many cells slow one request down. */

import { paramsOf, rpcCall } from "../calls.ts";
import { BenchHouse } from "../house.ts";
import { putLoad } from "../load.ts";
import { Peers, SECRET } from "../peers.ts";
import { Kernel, NO_MEMORY } from "../memory.ts";
import { atMost, type Figure, megabytes, type Outcome, type Scenario, type Settings } from "../scenario.ts";

const COUNTS = [1, 10, 50] as const;

/** Cells. */
export const cells: Scenario = {
  name: "cells",
  method:
    "Resident memory of the daemon a moment after pairing, then with 1, 10 and 50 secrets of which each has a running cell, and " +
    "GETs of 1 KB with the first of them, 16 at a time. Memory of a cell is the growth from 1 to 50 divided by 49.",
  async run({ folder, seconds, tell }: Settings): Promise<Outcome> {
    await using peers = await Peers.start(folder);
    await using house = await BenchHouse.start();
    await using kernel = new Kernel();
    const settled = async () => {
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      return megabytes(await kernel.held(house.pid) ?? 0);
    };
    const idle = await settled();
    if (idle === 0) {
      return { figures: [], notes: [NO_MEMORY] };
    }
    const figures: Figure[] = [atMost("daemon, paired and idle", idle, "MB", 90, "≤ 90 MB")];
    const memory: number[] = [];
    let made = 0;
    for (const count of COUNTS) {
      for (; made < count; made++) {
        await house.secret(`bench-${made}`, `${SECRET}${made}`, peers.upstream);
        await house.house.client.call(
          "http.request",
          paramsOf(`bench-${made}`, "GET", `${peers.upstream}/1k`),
        );
      }
      memory.push(await settled());
      const call = rpcCall(house.url, paramsOf("bench-0", "GET", `${peers.upstream}/1k`));
      const measured = await putLoad(folder, { ...call, at_once: 16, seconds });
      tell(`${count} cells: ${memory.at(-1)!.toFixed(0)} MB, p50 ${measured?.p50_ms.toFixed(2)} ms`);
      figures.push({
        name: `daemon with ${count} ${count === 1 ? "cell" : "cells"}`,
        value: memory.at(-1)!,
        unit: "MB",
      });
      if (measured !== null) {
        figures.push({
          name: `${count} ${count === 1 ? "cell" : "cells"}, GET, p50`,
          value: measured.p50_ms,
          unit: "ms",
        });
      }
    }
    const [one, , fifty] = memory as [number, number, number];
    figures.push(atMost("one cell more", (fifty - one) / 49, "MB", 12, "≤ 12 MB a cell"));
    return { figures, notes: [] };
  },
};
