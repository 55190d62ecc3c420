import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import type { PairState } from "@custos/rpc/pair_schemas";
import { RpcError } from "@custos/rpc/rpc_error";
import { type FakeAnswers, fakeDaemon } from "../testing/fake_daemon.ts";
import { custos } from "../testing/fake_io.ts";

const pairing_id = newId();
const url = `https://phone.example.test/#p=${"Ab3_".repeat(50)}`;

/** A daemon that goes through these states, one a call; `confirm` stays until the word is right. */
function pairing(states: PairState[], tries = 3): FakeAnswers {
  let left = tries;
  const waiting = [...states];
  return {
    "pair.begin": () => Promise.resolve({ pairing_id, url, qr_text: url, expires_ms: Date.now() + 120_000 }),
    "pair.status": () => {
      const state = left === 0 ? "failed" : waiting[0]!;
      if (state === "waiting" || state === "registering") waiting.shift();
      return Promise.resolve({
        state,
        device_name: "Pixel\u001b[2J",
        ...(state === "failed" ? { reason: "Too many tries." } : {}),
      });
    },
    "pair.confirm": ({ word }) => {
      if (word !== "rocket") {
        left--;
        return Promise.reject(new RpcError("pairing_refused", "That is not the word."));
      }
      waiting.shift();
      return Promise.resolve({ state: waiting[0]! });
    },
  };
}

Deno.test("custos pair shows the link, asks for the word and ends when the phone has registered", async () => {
  await using daemon = await fakeDaemon(pairing(["waiting", "waiting", "confirm", "registering", "done"]));
  const ran = await custos(daemon.socket, ["pair"], { terminals: { stdin: true }, stdin: " Rocket \n" });
  assert.equal(ran.code, 0);
  assert.equal(ran.out, `${url}\n`);
  assert.match(ran.tty, /Pixel\\u\{1b\}\[2J shows three words\. Type the first:/);
  assert.match(ran.err, /is paired/);
  assert.doesNotMatch(ran.err, /█/); // no code where there are no colours
});

Deno.test("custos pair takes the word from the first line of a pipe, however early or late it comes", async () => {
  const late = new ReadableStream<Uint8Array>({
    async start(controller) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      controller.enqueue(new TextEncoder().encode("rocket\n"));
    },
  });
  for (const stdin of ["rocket\n", "rocket", late]) {
    await using daemon = await fakeDaemon(pairing(["waiting", "confirm", "done"]));
    assert.equal((await custos(daemon.socket, ["pair"], { stdin })).code, 0);
  }
});

Deno.test("custos pair begins nothing where nobody can type the word (B109)", async () => {
  await using daemon = await fakeDaemon(pairing(["waiting", "confirm", "done"]));
  const ran = await custos(daemon.socket, ["pair"], { stdin: "" });
  assert.equal(ran.code, 2);
  assert.match(ran.err, /stdin is closed/);
  assert.equal(daemon.calls.length, 0);
});

Deno.test("custos pair lets a wrong word be typed again while the daemon allows it, and no longer", async () => {
  await using daemon = await fakeDaemon(pairing(["confirm", "done"]));
  const again = await custos(daemon.socket, ["pair"], { stdin: "wrong\nrocket\n" });
  assert.equal(again.code, 0);
  assert.match(again.err, /not the first word/);
  await using strict = await fakeDaemon(pairing(["confirm", "done"], 1));
  const refused = await custos(strict.socket, ["pair"], { stdin: "wrong\nrocket\n" });
  assert.equal(refused.code, 4);
  assert.match(refused.err, /pairing_refused/);
  assert.equal(strict.calls.filter(({ method }) => method === "pair.confirm").length, 1);
  await using short = await fakeDaemon(pairing(["confirm", "done"]));
  assert.equal((await custos(short.socket, ["pair"], { stdin: "wrong\n" })).code, 2);
});

Deno.test("custos pair says why a pairing failed, with exit code 4", async () => {
  await using daemon = await fakeDaemon({
    ...pairing([]),
    "pair.status": () => Promise.resolve({ state: "failed" as const, reason: "Two minutes have passed." }),
  });
  const ran = await custos(daemon.socket, ["pair"], { stdin: "rocket\n" });
  assert.equal(ran.code, 4);
  assert.match(ran.err, /Two minutes have passed\./);
});

Deno.test("custos pair --json prints the link, then the end, one object a line", async () => {
  await using daemon = await fakeDaemon(pairing(["waiting", "confirm", "done"]));
  const ran = await custos(daemon.socket, ["pair", "--json"], { stdin: "rocket\n" });
  const lines = ran.out.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual([lines.length, lines[0].url, lines[1].state], [2, url, "done"]);
});
