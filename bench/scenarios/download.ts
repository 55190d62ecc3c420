/** A download that does not fit anywhere: memory of the daemon while it passes. */

import { paramsOf } from "../calls.ts";
import { BenchHouse } from "../house.ts";
import { Peers, SECRET } from "../peers.ts";
import { Kernel, NO_MEMORY } from "../memory.ts";
import { atMost, megabytes, type Outcome, type Scenario, type Settings } from "../scenario.ts";

const GIGABYTE = 1_073_741_824;
/** How much more a body 16 times as large may take and still count as constant: what the collector has not looked at yet. */
const SLACK_MB = 16;

/** Reads a body of this size through the daemon's socket; the seconds it took and the most memory seen meanwhile. */
async function download(
  house: BenchHouse,
  kernel: Kernel,
  url: string,
  size: number,
): Promise<{ seconds: number; peak: number }> {
  let peak = 0;
  let over = false;
  const watch = async () => {
    while (!over) {
      peak = Math.max(peak, await kernel.held(house.pid) ?? 0);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const watching = watch();
  const start = performance.now();
  try {
    const { body } = await house.house.client.streamHttp(paramsOf("bench", "GET", url));
    let received = 0;
    for await (const part of body) received += part.length;
    if (received !== size) throw new Error(`${received} bytes came of ${size}.`);
    return { seconds: (performance.now() - start) / 1000, peak };
  } finally {
    over = true;
    await watching;
  }
}

/** One download of a gigabyte. */
export const bigDownload: Scenario = {
  name: "download",
  method:
    "A body of 64 MB and one of 1 GB through daemon, cell and scrubber to a reader on the unix socket; the daemon's memory is " +
    "read from the kernel every 20 ms.",
  async run({ folder, tell }: Settings): Promise<Outcome> {
    await using peers = await Peers.start(folder);
    await using house = await BenchHouse.start();
    await house.secret("bench", SECRET, peers.upstream);
    const sizes = { small: GIGABYTE / 16, large: GIGABYTE };
    for (const [name, size] of Object.entries(sizes)) {
      using file = Deno.openSync(`${folder}/files/${name}`, { create: true, write: true });
      file.truncateSync(size);
    }
    await using kernel = new Kernel();
    if (await kernel.held(house.pid) === null) return { figures: [], notes: [NO_MEMORY] };
    await download(house, kernel, `${peers.upstream}/small`, sizes.small); // code is compiled, buffers are there
    const small = await download(house, kernel, `${peers.upstream}/small`, sizes.small);
    const large = await download(house, kernel, `${peers.upstream}/large`, sizes.large);
    tell(`1 GB in ${large.seconds.toFixed(1)} s, peak ${megabytes(large.peak).toFixed(0)} MB`);
    const more = megabytes(large.peak - small.peak);
    return {
      figures: [
        atMost(
          "memory at 1 GB more than at 64 MB",
          more,
          "MB",
          SLACK_MB,
          `constant (≤ ${SLACK_MB} MB of slack)`,
        ),
        { name: "peak memory of the daemon, 64 MB body", value: megabytes(small.peak), unit: "MB" },
        { name: "peak memory of the daemon, 1 GB body", value: megabytes(large.peak), unit: "MB" },
        { name: "1 GB body", value: 1024 / large.seconds, unit: "MB/s" },
      ],
      notes: [],
    };
  },
};
