/** A whole custos for the bench: real relay, real daemon under its real flags with a TCP door beside its socket, a paired phone. */

import { commandLine, runDeno } from "../_tools/launch.ts";
import { House } from "../tests/e2e/harness.ts";
import { daemonArgs } from "../tests/e2e/harness_parts.ts";
import { Server } from "../tests/e2e/harness_process.ts";

/** The agent that holds the grants of the bench. */
export const AGENT = "bench";

/** A house and the address of the daemon's TCP door. */
export class BenchHouse implements AsyncDisposable {
  private constructor(
    readonly house: House,
    readonly url: string,
    /** When the phone posted each of its messages to the relay, by `performance.now()`. */
    readonly posts: readonly number[],
  ) {}

  /** Starts everything, with a phone that is paired. `prepare` may change the state before the daemon starts for good. */
  static async start(prepare: (house: House) => Promise<void> = async () => {}): Promise<BenchHouse> {
    const house = await House.start({ empty: true });
    const posts: number[] = [];
    const { fetch } = house.parts;
    house.parts.fetch = (url, init) => {
      if (init.method === "POST") posts.push(performance.now());
      return fetch(url, init);
    };
    try {
      await house.pair();
      await house.daemon.stop();
      await prepare(house);
      return new BenchHouse(house, await startWithDoor(house), posts);
    } catch (error) {
      await house[Symbol.asyncDispose]();
      throw error;
    }
  }

  get pid(): number {
    return this.house.daemon.child.pid;
  }

  /** Drops a secret for an origin, with a first grant of this agent for everything there for an hour. */
  async secret(name: string, value: string, origin: string, agent = AGENT): Promise<void> {
    const { house } = this;
    const asked = await house.client.call("drop.request", {
      name,
      reason: "bench",
      wait_ms: 0,
      agent: { name: agent },
    });
    await house.answerDrop(asked.request_id, name, value, {
      origins: [origin],
      rules: [{ methods: ["GET", "POST"], path_prefix: "/" }],
      first_grant_seconds: 3_600,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.house[Symbol.asyncDispose]();
  }
}

async function startWithDoor(house: House): Promise<string> {
  const { values, relay_url } = house;
  const module = new URL("tcp_door.ts", import.meta.url).pathname;
  const [run, ...flags] = commandLine("daemon", values, daemonArgs(values, relay_url));
  const extra = (Deno.env.get("CUSTOS_BENCH_DAEMON_FLAGS") ?? "").split(" ").filter((flag) => flag !== "");
  const child = runDeno([run!, "--preload", module, ...extra, ...flags], {
    stdout: "piped",
    stderr: "piped",
  });
  house.daemon = await Server.of("daemon", child);
  return `http://127.0.0.1:${await Deno.readTextFile(`${values.socket}.port`)}`;
}
