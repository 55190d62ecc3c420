import assert from "node:assert/strict";
import { CustosError } from "@custos/core/errors";
import { Cell } from "./cell.ts";
import { MAX_RUNNING, MAX_WAITING } from "./slots.ts";
import { disposable, get, localPolicy, openCell } from "./testdata/open_cell.ts";
import { type Answer, chunk, ok, RawServer } from "./testdata/raw_server.ts";

const REVOKED = new CustosError("denied", "The grant was revoked.");
const NONE = { headers: [], body: null };

/** Sends headers and one byte, then nothing more. */
const hanging: Answer = async (say) => {
  await say(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk("x")}`);
  await new Promise(() => {});
};

async function until(what: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !what(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert(what());
}

Deno.test("Cell.terminate() ends every reader and request, and says what may have happened", async () => {
  await using api = new RawServer(hanging);
  await using silent = new RawServer(() => new Promise(() => {}));
  using cell = await openCell(localPolicy([api.origin, silent.origin]));
  const response = await cell.request({ method: "GET", url: `${api.origin}/x`, ...NONE }, {
    max_bytes: 1000,
  });
  const reader = response.body.getReader();
  assert.deepEqual((await reader.read()).value, Uint8Array.of(120));
  const reading = reader.read();
  const waiting = cell.request({ method: "POST", url: `${silent.origin}/x`, ...NONE }, { max_bytes: 1000 });
  await until(() => silent.seen.length === 1);
  assert.equal(cell.active, 2);
  cell.terminate(REVOKED);
  for (const promise of [reading, response.finished, waiting]) {
    await assert.rejects(promise as Promise<unknown>, (error) => {
      assert(error instanceof CustosError && error.kind === "outcome_unknown");
      return error.message.startsWith(REVOKED.message);
    });
  }
  assert.equal(cell.active, 0);
  assert.equal(cell.ended, REVOKED);
  await assert.rejects(
    cell.request({ method: "GET", url: `${api.origin}/x`, ...NONE }, { max_bytes: 1 }),
    REVOKED,
  );
  await assert.rejects(cell.open(new Uint8Array(1), new Uint8Array(16), ""), REVOKED);
  await until(() => api.gone === 1 && silent.gone === 1);
});

Deno.test("Cell.terminate() before the cell is open refuses what waits, with the reason", async () => {
  const cell = Cell.start(localPolicy(["http://127.0.0.1:9999"]), { lan: true });
  const waiting = cell.request({ method: "GET", url: "http://127.0.0.1:9999/", ...NONE }, { max_bytes: 1 });
  const opening = cell.open(new Uint8Array(1), new Uint8Array(16), "");
  cell.terminate(REVOKED);
  await assert.rejects(waiting, REVOKED);
  await assert.rejects(opening, REVOKED);
});

Deno.test("an uncaught error of a cell's worker fails its requests and nothing else", async () => {
  await using api = new RawServer(ok("fine"));
  using other = await openCell(localPolicy([api.origin]));
  const source = `onmessage = ({ data: [message] }) => {
    if (message.type === "open") postMessage([{ type: "opened" }]);
    else throw new Error("on purpose, for the test");
  }`;
  const url = URL.createObjectURL(new Blob([source], { type: "application/javascript" }));
  const worker = new Worker(url, { type: "module", deno: { permissions: "none" } });
  using cell = disposable(new Cell(worker, localPolicy([api.origin]), { lan: true }));
  await cell.open(new Uint8Array(1), new Uint8Array(16), "");
  const got = await get(cell, { method: "POST", url: `${api.origin}/x` });
  assert.equal(got.error?.kind, "outcome_unknown");
  assert.equal(cell.ended?.kind, "internal");
  assert.equal((await get(other, { url: `${api.origin}/x` })).text, "fine");
});

Deno.test("the agent's leaving aborts upstream and frees the place, before and after the headers", async () => {
  await using silent = new RawServer(() => new Promise(() => {}));
  await using api = new RawServer(hanging);
  using cell = await openCell(localPolicy([silent.origin, api.origin]));
  const early = new AbortController();
  const asked = cell.request({ method: "POST", url: `${silent.origin}/x`, ...NONE }, {
    max_bytes: 1,
    signal: early.signal,
  });
  await until(() => silent.seen.length === 1);
  early.abort();
  await assert.rejects(asked, { kind: "outcome_unknown" });
  await until(() => silent.gone === 1);

  const late = new AbortController();
  const response = await cell.request({ method: "GET", url: `${api.origin}/x`, ...NONE }, {
    max_bytes: 9,
    signal: late.signal,
  });
  late.abort();
  await assert.rejects(response.finished, { kind: "outcome_unknown" });
  const reader = response.body.getReader();
  await assert.rejects(async () => {
    while (!(await reader.read()).done);
  }, { kind: "outcome_unknown" });
  await until(() => api.gone === 1);

  const cancelled = await cell.request({ method: "GET", url: `${api.origin}/x`, ...NONE }, { max_bytes: 9 });
  await cancelled.body.cancel();
  await assert.rejects(cancelled.finished, { kind: "outcome_unknown" });
  await until(() => api.gone === 2);
  assert.equal(cell.active, 0);

  const gone = AbortSignal.abort();
  const never = cell.request({ method: "GET", url: `${api.origin}/x`, ...NONE }, {
    max_bytes: 9,
    signal: gone,
  });
  await assert.rejects(never, { kind: "withdrawn" });
  assert.equal(api.seen.length, 2);
});

Deno.test("a request of a stream lets go of its source when the cell ends", async () => {
  await using silent = new RawServer(() => new Promise(() => {}));
  using cell = await openCell(localPolicy([silent.origin]));
  let closed = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1000)),
    cancel: () => void (closed = true),
  });
  const asked = cell.request({ ...NONE, method: "POST", url: `${silent.origin}/x`, body }, { max_bytes: 1 });
  await until(() => silent.connections === 1);
  cell.terminate(REVOKED);
  await assert.rejects(asked, { kind: "outcome_unknown" });
  await until(() => closed);
});

Deno.test("a cell runs many requests at once, queues some and refuses the rest", async () => {
  let open = () => {};
  const gate = new Promise<void>((resolve) => open = resolve);
  let most = 0;
  let now = 0;
  await using api = new RawServer(async (say, seen) => {
    most = Math.max(most, ++now);
    await gate;
    now--;
    await ok("fine")(say, seen);
  });
  using cell = await openCell(localPolicy([api.origin]));
  const total = MAX_RUNNING + MAX_WAITING + 5;
  const all = Array.from(
    { length: total },
    () => get(cell, { url: `${api.origin}/x` }, { keep_alive: true }),
  );
  await until(() => now === MAX_RUNNING);
  open();
  const done = await Promise.all(all);
  assert.equal(done.filter((got) => got.error?.kind === "too_many_pending").length, 5);
  assert.equal(done.filter((got) => got.text === "fine").length, MAX_RUNNING + MAX_WAITING);
  assert.equal(most, MAX_RUNNING);
  assert.equal(cell.active, 0);
});
