import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import { fakeDaemon } from "../testing/fake_daemon.ts";
import { custos } from "../testing/fake_io.ts";

const id = newId();
const confirmed = { request_id: id, fingerprint: "rocket velvet oasis", status: "pending" as const };

Deno.test("custos policy confirm sends the word that was typed, and shows the words of the change", async () => {
  await using daemon = await fakeDaemon({ "policy.confirm": () => Promise.resolve(confirmed) });
  const ran = await custos(daemon.socket, ["policy", "confirm", id], { stdin: " Rocket \n" });
  assert.equal(ran.code, 0, ran.err);
  assert.deepEqual(daemon.calls, [{ method: "policy.confirm", params: { request_id: id, word: "rocket" } }]);
  assert.match(ran.tty, /fingerprint: rocket velvet oasis/);
});

Deno.test("custos policy refuses what is not a word for a change, and calls nothing", async () => {
  const rows: [string, string[], string][] = [
    ["no word", ["policy", "confirm", id], "\n"],
    ["stdin that is closed (B109)", ["policy", "confirm", id], ""],
    ["another verb", ["policy", "widen", id], "rocket\n"],
    ["no request", ["policy", "confirm"], "rocket\n"],
    ["the word as an argument (B108)", ["policy", "confirm", id, "rocket"], ""],
  ];
  await using daemon = await fakeDaemon({ "policy.confirm": () => Promise.resolve(confirmed) });
  for (const [what, args, stdin] of rows) {
    const ran = await custos(daemon.socket, args, { stdin });
    assert.equal(ran.code, 2, what);
  }
  assert.deepEqual(daemon.calls, []);
});
