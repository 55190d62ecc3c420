/** What the MCP server costs: its start, and what it adds to a request. */

import { paramsOf } from "../calls.ts";
import { AGENT, BenchHouse } from "../house.ts";
import { McpLine } from "../mcp_line.ts";
import { Peers, SECRET } from "../peers.ts";
import { atMost, median, type Outcome, type Scenario, type Settings, timed } from "../scenario.ts";

const STARTS = 9;
const CALLS = 200;

/** Start and warm calls. */
export const mcp: Scenario = {
  name: "mcp",
  method:
    `From starting the process to its answer to \`tools/list\`, ${STARTS} times; then ${CALLS} GETs of 1 KB through \`http_request\` ` +
    "and as many straight to the daemon's socket, in turns, one at a time.",
  async run({ folder, tell }: Settings): Promise<Outcome> {
    await using peers = await Peers.start(folder);
    await using house = await BenchHouse.start();
    await house.secret("bench", SECRET, peers.upstream);
    const { values, client } = house.house;
    const starts: number[] = [];
    for (let i = 0; i < STARTS; i++) {
      const start = performance.now();
      await using line = new McpLine(values, AGENT);
      await line.initialize();
      await line.ask("tools/list", {});
      starts.push(performance.now() - start);
    }
    await using line = new McpLine(values, AGENT);
    await line.initialize();
    const url = `${peers.upstream}/1k`;
    const params = paramsOf("bench", "GET", url);
    const args = { handle: params.handle, method: "GET", url, reason: "bench", wait_seconds: 0 };
    const through: number[] = [];
    const straight: number[] = [];
    for (let i = 0; i < CALLS + 20; i++) {
      const mcp = await timed(async () => {
        const result = await line.ask("tools/call", { name: "http_request", arguments: args });
        if (result["isError"] === true) throw new Error(JSON.stringify(result));
      });
      const own = await timed(() => client.call("http.request", params));
      if (i < 20) continue;
      through.push(mcp);
      straight.push(own);
    }
    tell(
      `start ${median(starts).toFixed(0)} ms, call ${median(through).toFixed(2)} ms, straight ${
        median(straight).toFixed(2)
      } ms`,
    );
    return {
      figures: [
        atMost("start to tools/list", median(starts), "ms", 250, "≤ 250 ms"),
        atMost(
          "added to a warm request",
          median(through.map((one, i) => one - straight[i]!)),
          "ms",
          3,
          "≤ 3 ms",
        ),
        { name: "a warm request through MCP", value: median(through), unit: "ms" },
        { name: "a warm request to the socket", value: median(straight), unit: "ms" },
      ],
      notes: [],
    };
  },
};
