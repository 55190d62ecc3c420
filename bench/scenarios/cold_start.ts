/** How long a person waits for `custos status`, and how much memory it takes. */

import { launch, runDeno } from "../../_tools/launch.ts";
import { House } from "../../tests/e2e/harness.ts";
import { Kernel, NO_MEMORY } from "../memory.ts";
import { atMost, median, megabytes, type Outcome, type Scenario, type Settings, timed } from "../scenario.ts";

const RUNS = 15;

/** Cold commands. */
export const coldStart: Scenario = {
  name: "cli",
  method:
    `\`custos status --json\` against a running daemon and \`deno eval ''\`, in turns, ${RUNS} times each, every time a new process; ` +
    "the file cache is warm.",
  async run({ tell }: Settings): Promise<Outcome> {
    await using house = await House.start({ empty: true });
    const status = () =>
      launch("cli", house.values, {
        args: ["status", "--json"],
        env: { CUSTOS_SOCKET: house.values.socket },
        stdout: "null",
        stderr: "null",
      });
    const nothing = () => runDeno(["eval", ""], { stdout: "null", stderr: "null" });
    const times: Record<"status" | "nothing", number[]> = { status: [], nothing: [] };
    for (let i = 0; i < RUNS + 2; i++) {
      const own = await timed(async () => {
        const { code } = await status().status;
        if (code !== 0) throw new Error(`custos status ended with code ${code}.`);
      });
      const bare = await timed(() => nothing().status);
      if (i < 2) continue;
      times.status.push(own);
      times.nothing.push(bare);
    }
    await using kernel = new Kernel();
    const peak = megabytes(await kernel.peak(status().pid));
    const ratio = median(times.status.map((own, i) => own / times.nothing[i]!));
    tell(
      `custos status ${median(times.status).toFixed(0)} ms, deno eval '' ${
        median(times.nothing).toFixed(0)
      } ms`,
    );
    return {
      figures: [
        atMost("custos status / deno eval ''", ratio, "×", 3.5, "≤ 3.5 ×"),
        { name: "custos status", value: median(times.status), unit: "ms" },
        { name: "deno eval ''", value: median(times.nothing), unit: "ms" },
        ...(peak === 0 ? [] : [atMost("peak memory of custos status", peak, "MB", 60, "≤ 60 MB")]),
      ],
      notes: peak === 0 ? [NO_MEMORY] : [],
    };
  },
};
