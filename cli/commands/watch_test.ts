import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import { Client } from "@custos/rpc/client";
import type { Io } from "../io.ts";
import { run } from "../run.ts";
import type { Screen, ScreenEvent } from "../screen.ts";
import { type FakeAnswers, fakeDaemon } from "../testing/fake_daemon.ts";
import { custos } from "../testing/fake_io.ts";

const now = 1_700_000_000_000;
const checkpoint = { checkpoint: "", key: "" };
const status = {
  version: "0.1.0",
  daemon: newId(),
  name: "kims-laptop",
  state_dir: "/s",
  profile: "public" as const,
  started_ms: now,
  devices: 1,
  pending: 0,
  live_grants: 0,
  relay: { url: "https://relay.test", state: "connected" as const, since_ms: now },
  locked: false,
  channels: [],
  audit: { size: 0 },
};
const answers: FakeAnswers = {
  "daemon.status": () => Promise.resolve(status),
  "requests.list": () => Promise.resolve({ requests: [] }),
  "grants.list": () => Promise.resolve({ grants: [] }),
  "devices.list": () => Promise.resolve({ devices: [] }),
  "log.read": () => Promise.resolve({ entries: [], size: 0, ...checkpoint }),
};

/** A screen that plays these events and keeps every frame; time goes on by what is waited. */
function fakeScreen(
  events: ScreenEvent[],
  clock: { now: number },
): Screen & { frames: string[]; open: boolean } {
  return {
    frames: [],
    open: true,
    size: () => ({ columns: 80, rows: 24 }),
    draw(lines) {
      this.frames.push(lines.join("\n"));
      return Promise.resolve();
    },
    wait(ms) {
      const event = events.shift() ?? { kind: "end" };
      if (event.kind === "time") clock.now += ms;
      return Promise.resolve(event);
    },
    [Symbol.dispose]() {
      this.open = false;
    },
  };
}

/** Runs `custos watch` at a terminal that is the fake screen. */
async function watch(
  socket: string,
  events: ScreenEvent[],
): Promise<{ code: number; frames: string[]; open: boolean }> {
  const clock = { now };
  const screen = fakeScreen(events, clock);
  const io: Io = {
    terminals: { stdin: true, stdout: true, stderr: true },
    columns: 80,
    colour: false,
    out: () => Promise.reject(new Error("the view goes to the screen only")),
    err: () => {},
    tty: () => Promise.resolve(true),
    readLine: () => Promise.resolve(null),
    stdin: () => new Blob([]).stream(),
    env: () => undefined,
    now: () => clock.now,
    screen: () => Promise.resolve(screen),
  };
  const code = await run(["watch", "--socket", socket], io, (path) => new Client({ socket: path }));
  return { code, frames: screen.frames, open: screen.open };
}

const second: ScreenEvent = { kind: "time" };

Deno.test("custos watch asks once a second, draws at every key and size, and gives the terminal back at q", async () => {
  for (const key of ["q", "Q", "\x03", "\x04"]) {
    await using daemon = await fakeDaemon(answers);
    const seen = await watch(daemon.socket, [{ kind: "key", key: "x" }, { kind: "resized" }, second, {
      kind: "key",
      key,
    }]);
    assert.deepEqual([seen.code, seen.frames.length, seen.open], [0, 4, false], JSON.stringify(key));
    assert.match(seen.frames[0]!, /custos on kims-laptop/);
    const asked = daemon.calls.map(({ method }) => method);
    assert.equal(asked.filter((method) => method === "daemon.status").length, 2);
    assert.equal(
      asked.filter((method) => method === "log.read").length,
      1,
      "a log that has not grown is not read again",
    );
  }
});

Deno.test("custos watch says that the daemon does not answer, shows nothing old, and goes on when it does", async () => {
  let calls = 0;
  await using daemon = await fakeDaemon({
    ...answers,
    "daemon.status": () => ++calls === 2 ? Promise.reject(new Error("broken")) : Promise.resolve(status),
  });
  const { frames } = await watch(daemon.socket, [second, second, second]);
  assert.match(frames[0]!, /kims-laptop/);
  assert.doesNotMatch(frames[1]!, /kims-laptop/);
  assert.match(frames[1]!, /tried again every two seconds/);
  assert.match(frames[2]!, /kims-laptop/);
  const nobody = await watch("/nonexistent/custos.sock", [second]);
  assert.match(nobody.frames[0]!.replaceAll(/\s+/g, " "), /There is no socket \/nonexistent/);
  assert.equal(nobody.code, 0);
});

Deno.test("custos watch refuses to start without a terminal, and names the way out (B109)", async () => {
  await using daemon = await fakeDaemon(answers);
  const rows = [
    {},
    { terminals: { stdin: true } },
    { terminals: { stdout: true } },
    { terminals: { stdin: true, stdout: true, stderr: true }, env: { TERM: "dumb" } },
  ];
  for (const row of rows) {
    const { code, out, err } = await custos(daemon.socket, ["watch"], row);
    assert.deepEqual([code, out], [2, ""]);
    assert.match(err, /needs a terminal.*--once/);
  }
  assert.equal((await custos(daemon.socket, ["watch", "--json"])).code, 2);
  assert.deepEqual(daemon.calls, []);
});

Deno.test("custos watch --once gives the same as lines for a pipe, and as one JSON object", async () => {
  await using daemon = await fakeDaemon(answers);
  const text = await custos(daemon.socket, ["watch", "--once"], { now });
  assert.equal(text.code, 0);
  assert.match(
    text.out,
    /^custos on kims-laptop.*\n\nWaiting for the phone: 0\n {2}nothing\n\nGranted now: 0\n/,
  );
  assert.ok(!text.out.includes("\x1b") && !text.out.includes("q quits"));
  const json = await custos(daemon.socket, ["watch", "--once", "--json"], { now });
  assert.deepEqual(Object.keys(JSON.parse(json.out)), ["status", "pending", "grants", "recent", "names"]);
});
