/** custos beside nginx and mitmproxy: the same upstream, the same load generator, in turns. */

import { paramsOf, rpcCall, streamCall } from "../calls.ts";
import { BenchHouse } from "../house.ts";
import { type Load, type Measured, putLoad } from "../load.ts";
import { Kernel } from "../memory.ts";
import { FILES, MissingProgram, type Peer, Peers, SECRET } from "../peers.ts";
import {
  atLeast,
  atMost,
  type Figure,
  median,
  megabytes,
  type Outcome,
  type Scenario,
  type Settings,
} from "../scenario.ts";

/** A load, and the process that bears it. */
type Kind = Omit<Load, "seconds"> & { pid: number };

/** `cpu_us` is the CPU time of the process for each request, all threads; 0 where the kernel cannot be asked. */
type Turn = Measured & { cpu_us: number };

/** Loads by the name of who bears them; each is measured in every round, one after the other. */
async function inTurns(
  { folder, rounds, seconds, tell }: Settings,
  loads: ReadonlyMap<string, Kind>,
  what: string,
): Promise<Map<string, Turn[]>> {
  await using kernel = new Kernel();
  const found = new Map<string, Turn[]>([...loads.keys()].map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, load] of loads) {
      const before = await kernel.cpu(load.pid);
      const measured = await putLoad(folder, { ...load, seconds: round === 0 ? 2 : seconds });
      const after = await kernel.cpu(load.pid);
      if (measured === null) throw new MissingProgram("wrk", "wrk");
      if (measured.failed > 0) throw new Error(`${what}: ${measured.failed} requests to ${name} failed.`);
      if (round === 0) continue; // warms up
      const used = before === null || after === null ? 0 : after - before;
      found.get(name)!.push({ ...measured, cpu_us: used / Math.max(1, measured.requests) });
      tell(`${what} ${name}: ${Math.round(measured.per_second)}/s, p50 ${measured.p50_ms.toFixed(2)} ms`);
    }
  }
  return found;
}

function middle(measured: Turn[] | undefined, field: keyof Turn): number {
  return median((measured ?? []).map((one) => one[field]));
}

/** The ratio of two in each round, and of these the middle: what disturbs a round disturbs both. */
function ratio(of: Turn[], to: Turn[] | undefined): number | null {
  if (to === undefined || to.length === 0 || to.some((one) => one.requests === 0)) return null;
  return median(of.map((one, i) => one.per_second / to[i]!.per_second));
}

async function stand<T>(
  { folder }: Settings,
  work: (peers: Peers, house: BenchHouse) => Promise<T>,
): Promise<T> {
  await using peers = await Peers.start(folder);
  await using house = await BenchHouse.start();
  await house.secret("bench", SECRET, peers.upstream);
  return await work(peers, house);
}

function table(what: string, found: Map<string, Turn[]>): Figure[] {
  return [...found].flatMap(([name, measured]) => [
    { name: `${what}, ${name}`, value: middle(measured, "per_second"), unit: "requests/s" },
    { name: `${what}, ${name}, p50`, value: middle(measured, "p50_ms"), unit: "ms" },
    { name: `${what}, ${name}, p99`, value: middle(measured, "p99_ms"), unit: "ms" },
    { name: `${what}, ${name}, CPU of a request`, value: middle(measured, "cpu_us"), unit: "µs" },
  ]);
}

/** Ratios and latencies against the bars. */
function compared(
  what: string,
  found: Map<string, Turn[]>,
  bars: { mitmproxy?: number; nginx?: number },
): Figure[] {
  const own = found.get("custos")!;
  const figures: Figure[] = [];
  for (const peer of ["mitmproxy", "nginx"] as const) {
    const value = ratio(own, found.get(peer));
    if (value === null) continue;
    const name = `${what}, custos / ${peer}`;
    const least = bars[peer];
    figures.push(
      least === undefined ? { name, value, unit: "×" } : atLeast(name, value, "×", least, `≥ ${least} ×`),
    );
  }
  const limit = found.get("mitmproxy");
  if (limit !== undefined && bars.mitmproxy !== undefined) {
    const most = middle(limit, "p50_ms");
    figures.push(
      atMost(
        `${what}, custos, p99`,
        middle(own, "p99_ms"),
        "ms",
        most,
        `≤ mitmproxy's p50, ${most.toFixed(1)} ms`,
      ),
    );
  }
  return figures;
}

/** GET under a live timed grant. */
export const get: Scenario = {
  name: "get",
  method:
    "GET of 1 KB of JSON under a live timed grant, 1, 16 and 64 at a time, connections kept on both sides. custos is asked " +
    "through JSON-RPC, as MCP asks; at 16 also through the streaming form, as `custos http` asks.",
  run: (settings) =>
    stand(settings, async (peers, house): Promise<Outcome> => {
      const figures: Figure[] = [];
      for (const at_once of [1, 16, 64]) {
        const params = paramsOf("bench", "GET", `${peers.upstream}/1k`);
        const loads = new Map<string, Kind>([["custos", {
          ...rpcCall(house.url, params),
          at_once,
          pid: house.pid,
        }]]);
        if (at_once === 16) {
          loads.set("custos, streamed", { ...streamCall(house.url, params), at_once, pid: house.pid });
        }
        for (const peer of peers.all) {
          loads.set(peer.name, { url: `${peer.url}/1k`, method: "GET", at_once, pid: peer.pid });
        }
        const what = `GET 1 KB, ${at_once} at a time`;
        const found = await inTurns(settings, loads, what);
        figures.push(
          ...compared(what, found, at_once === 16 ? { mitmproxy: 5, nginx: 0.08 } : {}),
          ...table(what, found),
        );
      }
      return { figures, notes: peers.missing };
    }),
};

/** POST on fresh connections. */
export const post: Scenario = {
  name: "post",
  method:
    "POST of 2 bytes, 16 at a time, each on fresh connections to the proxy and from it to the API, as custos always sends " +
    "what may act. nginx is measured last and briefly: its connections would use up the ports of the others.",
  run: (settings) =>
    stand(settings, async (peers, house): Promise<Outcome> => {
      const at_once = 16;
      const params = paramsOf("bench", "POST", `${peers.upstream}/post`, "{}");
      const loads = new Map<string, Kind>([["custos", {
        ...rpcCall(house.url, params),
        at_once,
        fresh: true,
        pid: house.pid,
      }]]);
      const peerLoad = ({ url, pid }: Peer): Kind => ({
        pid,
        url: `${url}/post`,
        method: "POST",
        body: "{}",
        at_once,
        fresh: true,
      });
      for (const peer of peers.all) if (peer.name !== "nginx") loads.set(peer.name, peerLoad(peer));
      const what = `POST, fresh connections, ${at_once} at a time`;
      const found = await inTurns({ ...settings, seconds: Math.min(settings.seconds, 3) }, loads, what);
      const nginx = peers.all.find((peer) => peer.name === "nginx");
      if (nginx !== undefined) {
        const once = { ...settings, rounds: 1, seconds: 1 };
        found.set(
          "nginx",
          (await inTurns(once, new Map([["nginx", peerLoad(nginx)]]), what)).get("nginx")!,
        );
      }
      const figures = compared(what, new Map([...found].filter(([name]) => name !== "nginx")), {
        mitmproxy: 3,
      });
      return { figures: [...figures, ...table(what, found)], notes: peers.missing };
    }),
};

/** Larger bodies. */
export const bodies: Scenario = {
  name: "bodies",
  method:
    "GET of 100 KB, 16 at a time, and of 10 MB, 4 at a time, through the streaming form: policy, audit, cell and scrubbing of " +
    "every byte.",
  run: (settings) =>
    stand(settings, async (peers, house): Promise<Outcome> => {
      const figures: Figure[] = [];
      for (const [file, at_once] of [["100k", 16], ["10m", 4]] as const) {
        const params = paramsOf("bench", "GET", `${peers.upstream}/${file}`);
        const loads = new Map<string, Kind>([["custos", {
          ...streamCall(house.url, params),
          at_once,
          pid: house.pid,
        }]]);
        for (const peer of peers.all) {
          loads.set(peer.name, { url: `${peer.url}/${file}`, method: "GET", at_once, pid: peer.pid });
        }
        const what = `GET ${file === "100k" ? "100 KB" : "10 MB"}, ${at_once} at a time`;
        // long enough for the slowest to finish some
        const longer = file === "10m" ? settings.seconds * 3 : settings.seconds;
        const found = await inTurns({ ...settings, seconds: longer }, loads, what);
        const rates = [...found].map(([name, measured]): Figure => ({
          name: `${what}, ${name}, body`,
          value: megabytes(middle(measured, "per_second") * FILES[file]),
          unit: "MB/s",
        }));
        figures.push(...compared(what, found, {}), ...rates, ...table(what, found));
      }
      return { figures, notes: peers.missing };
    }),
};
