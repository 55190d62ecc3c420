/** How a request slows down as the state grows, and how long a long log takes to verify. */

import { randomBytes, toBase64url } from "@custos/core/bytes";
import { newId } from "@custos/core/ids";
import { AuditLog } from "../../daemon/audit_log.ts";
import { Database } from "../../daemon/database.ts";
import { loadIdentity } from "../../daemon/identity.ts";
import { RequestStore } from "../../daemon/request_store.ts";
import { httpDoc } from "../../daemon/testdata/requests.ts";
import type { House } from "../../tests/e2e/harness.ts";
import { paramsOf, rpcCall } from "../calls.ts";
import { BenchHouse } from "../house.ts";
import { putLoad } from "../load.ts";
import { Kernel } from "../memory.ts";
import { MissingProgram, Peers, SECRET } from "../peers.ts";
import {
  atMost,
  type Figure,
  median,
  type Outcome,
  type Scenario,
  type Settings,
  timed,
} from "../scenario.ts";

const HOUSES = [
  { name: "10 entries", entries: 10, requests: 0 },
  { name: "10,000 entries", entries: 10_000, requests: 0 },
  { name: "100,000 entries and 10,000 requests", entries: 100_000, requests: 10_000 },
] as const;

/** Turns in a round, of a second each: a difference of a tenth needs more of them than a ratio of five. */
const TURNS = 4;

/** Entries and answered requests, written by the daemon's own code while it is stopped. */
async function fill(house: House, entries: number, requests: number): Promise<void> {
  const db = Database.open(house.values.daemon_dir);
  try {
    const audit = AuditLog.open(db, await loadIdentity(db, "test computer"));
    const store = new RequestStore(db);
    const random = () => toBase64url(randomBytes(32));
    db.transaction(() => {
      for (let i = 0; i < entries; i++) {
        audit.write({
          event: i % 2 === 0 ? "send_started" : "send_finished",
          request_id: newId(),
          fingerprint: "abacus abdomen able",
          handle: "custos:bench",
          agent: "bench",
          method: "GET",
          origin: "https://api.example.test",
          path: `/v1/items/${i}`,
          grant_id: newId(),
          ...(i % 2 === 0 ? {} : { status: 200, response_sha256: random(), bytes: 1_024, redactions: 0 }),
        });
      }
      const now = Date.now();
      for (let i = 0; i < requests; i++) {
        const created_ms = now - 86_400_000 - i * 60_000;
        const doc = httpDoc({ created_ms, expires_ms: created_ms + 900_000 });
        store.insert({
          doc,
          hash: random(),
          fingerprint: "abacus abdomen able",
          coalesce_key: random(),
          cool_key: random(),
        });
        store.end(doc.id, "granted", null, "phone");
      }
    });
  } finally {
    db.close();
  }
}

/** The same load on daemons with short and long pasts, in turns. */
export const growth: Scenario = {
  name: "growth",
  method:
    "GET of 1 KB under a timed grant, 1 and 16 at a time, on three daemons in turns that differ in what is in their state; then " +
    "`custos log verify` as a cold command.",
  async run({ folder, rounds, seconds, tell }: Settings): Promise<Outcome> {
    await using peers = await Peers.start(folder);
    await using kernel = new Kernel();
    await using stack = new AsyncDisposableStack();
    const houses = [];
    for (const { name, entries, requests } of HOUSES) {
      const house = stack.use(await BenchHouse.start((inner) => fill(inner, entries, requests)));
      await house.secret("bench", SECRET, peers.upstream);
      houses.push({ name, house });
    }
    const figures: Figure[] = [];
    for (const at_once of [1, 16]) {
      const found = houses.map((): number[] => []);
      const cpu = houses.map((): number[] => []);
      for (let round = 0; round <= rounds * TURNS; round++) {
        // there and back, so that none is always the first
        const order = [...houses.keys()];
        for (const i of round % 2 === 0 ? order : order.reverse()) {
          const { house } = houses[i]!;
          const call = rpcCall(house.url, paramsOf("bench", "GET", `${peers.upstream}/1k`));
          const before = await kernel.cpu(house.pid) ?? 0;
          const measured = await putLoad(folder, { ...call, at_once, seconds: round === 0 ? seconds : 1 });
          if (measured === null) throw new MissingProgram("wrk", "wrk");
          const used = (await kernel.cpu(house.pid) ?? 0) - before;
          if (round === 0) continue; // warms up
          found[i]!.push(measured.p50_ms);
          cpu[i]!.push(used / Math.max(1, measured.requests));
        }
      }
      for (const [i, { name }] of houses.entries()) {
        const p50 = median(found[i]!);
        const slower = median(found[i]!.map((value, round) => (value / found[0]![round]! - 1) * 100));
        tell(`${name}, ${at_once} at a time: p50 ${p50.toFixed(2)} ms (${slower.toFixed(1)} % more)`);
        figures.push({ name: `${name}, ${at_once} at a time, p50`, value: p50, unit: "ms" });
        figures.push({
          name: `${name}, ${at_once} at a time, CPU of a request`,
          value: median(cpu[i]!),
          unit: "µs",
        });
        if (i === 0) continue;
        figures.push(atMost(`${name}, ${at_once} at a time, slower by`, slower, "%", 10, "≤ 10 %"));
      }
    }
    const { house } = houses.at(-1)!.house;
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      times.push(
        await timed(async () => {
          const { code, stderr } = await house.custos("bench", ["log", "verify"]);
          if (code !== 0) throw new Error(`custos log verify: ${stderr}`);
        }),
      );
    }
    const count = await house.logSize();
    figures.push(
      atMost(
        `log verify of ${count} entries`,
        median(times) / 1000,
        "s",
        3 * count / 100_000,
        "≤ 3 s for 100,000",
      ),
    );
    return { figures, notes: [] };
  },
};
