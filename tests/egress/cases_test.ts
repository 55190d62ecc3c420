/** Cases of areas A, K and L that need the whole product: clocks and waits (K), and who may ask for what (L). */

import assert from "node:assert/strict";
import { ACTS } from "@custos/rpc/method_types";
import { HANDLE, S, SHARED, shareHouse } from "../e2e/harness.ts";
import { leaks } from "../e2e/harness_leaks.ts";
import { failure } from "../e2e/harness_wait.ts";
import { HAS_PROC, procText, socketInodes } from "./proc_files.ts";

const house = shareHouse();

Deno.test(
  "the daemon refuses a request to its own relay, even where a policy names it (B24)",
  SHARED,
  async () => {
    const h = house();
    const origins = [h.api.origin, h.relay_url];
    await h.dropSecret("selfish", "selfish_value_0123456789", { origins });
    const [before, cards] = [await h.logSize(), (await h.phone.cards()).length];
    const error = await failure(h.http(`${h.relay_url}/v1/x`, { agent: "self", handle: "custos:selfish" }));
    assert.deepEqual([error.kind, error.id], ["host_not_allowed", undefined]);
    assert.match(error.message, /is the relay of custos itself/);
    assert.deepEqual((await h.log(before)).map(({ event, why }) => [event, why]), [[
      "request_refused",
      "host_not_allowed",
    ]]);
    assert.equal((await h.phone.cards()).length, cards);
  },
);

Deno.test({
  ...SHARED,
  ignore: !HAS_PROC,
  name: "a daemon listens on nothing that a URL can name (B24)",
  async fn() {
    const { pid } = house().daemon.child;
    const own = await socketInodes(pid);
    assert(own.length > 1);
    const LISTEN = "0A";
    for (const table of ["net/tcp", "net/tcp6"]) {
      const rows = (await procText(pid, table)).trim().split("\n").slice(1).map((row) =>
        row.trim().split(/\s+/)
      );
      assert.deepEqual(rows.filter((row) => row[3] === LISTEN && own.includes(row[9]!)), [], table);
      if (table === "net/tcp") {
        assert(rows.some((row) => row[3] === LISTEN), "the relay's and the API's are there");
      }
    }
  },
});

Deno.test(
  "an approval that comes after its caller has gone sends nothing by itself, and can be used later (B169)",
  SHARED,
  async () => {
    const h = house();
    const ask = { agent: "short", method: "POST" };
    const error = await failure(h.http("/late", { ...ask, wait_ms: 200 }));
    assert.equal(error.kind, "needs_approval");
    const card = await h.card(error.id!);
    assert(card.message.doc.expires_ms > Date.now(), "the card outlives the caller's wait");
    await h.approve(error.id!);
    const status = await h.client.call("access.status", { request_id: error.id! });
    assert.equal(status.status, "granted");
    assert.equal(h.api.count("/late"), 0, "nobody is there to get the answer");
    const answer = await h.http("/late", ask);
    assert.equal(answer.request_id, error.id);
    assert.equal(h.api.count("/late"), 1);
    assert.notEqual((await h.ask("/late", ask)).id, error.id);
  },
);

Deno.test(
  "one agent's approval serves no other agent, and each request says whose it is (B176)",
  SHARED,
  async () => {
    const h = house();
    const asked = await h.ask("/mine", { agent: "alice" });
    await h.approve(asked.id, { kind: "path" });
    const other = await h.ask("/mine", { agent: "mallory" });
    assert.notEqual(other.id, asked.id);
    assert.equal(h.api.count("/mine"), 0);
    assert.equal((await h.http("/mine", { agent: "alice" })).status_code, 200);
    const { requests } = await h.client.call("requests.list", {});
    const named = Object.fromEntries(requests.map((request) => [request.request_id, request.agent?.name]));
    assert.deepEqual([named[asked.id], named[other.id]], ["alice", "mallory"]);
    // what an API answered is in the reply to that one call and nowhere else
    const status = await h.client.call("access.status", { request_id: asked.id });
    assert.ok(!JSON.stringify([status, requests, await h.log()]).includes('"ok"'));
  },
);

Deno.test("custos has no command and the daemon no method that gives a value (B177)", SHARED, async () => {
  const h = house();
  const tries = [
    ["secret", "get", "demo-key"],
    ["get", HANDLE],
    ["export"],
    ["reveal", HANDLE],
    ["config"],
    ["handles", "--show-values"],
    ["handles", HANDLE, "--raw"],
  ];
  for (const args of tries) {
    const ran = await h.custos("thief", args);
    assert.equal(ran.code, 2, args.join(" "));
    assert.deepEqual(leaks(ran.stdout + ran.stderr, S), []);
  }
  const giving = Object.keys(ACTS).filter((method) =>
    /reveal|export|value|decrypt|open|debug|eval/.test(method)
  );
  assert.deepEqual(giving, []);
  for (const method of ["secret.get", "secret.reveal", "debug", "constructor"]) {
    const call = h.client.call(method as "daemon.status", {});
    await assert.rejects(call, (error: Error) => !error.message.includes(S));
  }
  if (HAS_PROC) assert.deepEqual(leaks(await procText(h.daemon.child.pid, "environ"), S), []);
});

Deno.test(
  "every command answers under exactly the shipped flags, without HOME and without a prompt (B179)",
  SHARED,
  async () => {
    const h = house();
    for (
      const args of [["status"], ["handles"], ["requests"], ["grants"], ["devices"], ["log"], [
        "policy",
        HANDLE,
      ]]
    ) {
      const environments: Record<string, string>[] = [{}, { HOME: "" }, { XDG_RUNTIME_DIR: "" }];
      for (const env of environments) {
        const ran = await h.custos("flags", args, { env });
        const said = ran.stdout + ran.stderr;
        assert.ok(!/NotCapable|Requires \w+ access|Allow\?|--allow-/.test(said), said);
        assert.notEqual(ran.code, 5, said);
      }
    }
  },
);
