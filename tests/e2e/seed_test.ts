/** The decisions of ADR 0005 on the daemon's own socket: words on every path, late answers, who sends. */

import assert from "node:assert/strict";
import { HANDLE, SHARED, shareHouse } from "./harness.ts";
import { failure, soon } from "./harness_wait.ts";

const house = shareHouse();

Deno.test("needs_approval and access.status carry the fingerprint that the phone shows", SHARED, async () => {
  const h = house();
  const asked = await h.ask("/words", { agent: "words" });
  const status = await h.client.call("access.status", { request_id: asked.id });
  assert.deepEqual([status.status, status.fingerprint], ["pending", asked.fingerprint]);
  assert.equal((await h.card(asked.id)).words, asked.fingerprint, "the phone computed the same words itself");
  const { requests } = await h.client.call("requests.list", { status: "pending" });
  assert.equal(requests.find((one) => one.request_id === asked.id)?.fingerprint, asked.fingerprint);
});

Deno.test("http.request gives the words of the request whose grant allowed it", SHARED, async () => {
  const h = house();
  const asked = await h.ask("/words/answered", { agent: "words" });
  await h.approve(asked.id);
  const answer = await h.http("/words/answered", { agent: "words" });
  assert.deepEqual([answer.request_id, answer.fingerprint, answer.status_code], [
    asked.id,
    asked.fingerprint,
    200,
  ]);
});

Deno.test("denied carries request id and fingerprint on every path", SHARED, async () => {
  const h = house();
  const call = failure(h.http("/denied", { agent: "denied", wait_ms: 60_000 }));
  const card = await h.cardFor("/denied");
  await h.deny(card.message.doc.id);
  const error = await call;
  assert.deepEqual([error.kind, error.id, error.fingerprint], ["denied", card.message.doc.id, card.words]);
  const status = await h.client.call("access.status", { request_id: card.message.doc.id });
  assert.deepEqual([status.status, status.fingerprint], ["denied", card.words]);
  assert.equal(h.api.count("/denied"), 0);

  const asked = await h.client.call("drop.request", {
    name: "never",
    reason: "will be denied",
    wait_ms: 0,
    agent: { name: "denied" },
  });
  await h.deny(asked.request_id);
  const late = await h.client.call("access.status", { request_id: asked.request_id });
  assert.deepEqual([late.status, late.fingerprint], ["denied", asked.fingerprint]);
});

Deno.test(
  "withdrawn carries request id and fingerprint, and its card is gone from the phone",
  SHARED,
  async () => {
    const h = house();
    const asked = await h.ask("/withdrawn", { agent: "withdrawn" });
    await h.card(asked.id);
    const result = await h.client.call("access.withdraw", { request_id: asked.id });
    assert.deepEqual(result, {
      request_id: asked.id,
      fingerprint: asked.fingerprint,
      status: "withdrawn",
      detached: false,
    });
    await h.cardWhere((card) => card.message.doc.id === asked.id && card.status === "withdrawn");
    await assert.rejects(h.phone.approve(asked.id), { kind: "withdrawn" });
  },
);

Deno.test("access.withdraw only detaches while another caller waits for the request", SHARED, async () => {
  const h = house();
  const call = h.http("/detached", { agent: "detached", wait_ms: 60_000 });
  const { message: { doc } } = await h.cardFor("/detached");
  const result = await h.client.call("access.withdraw", { request_id: doc.id });
  assert.deepEqual([result.status, result.detached], ["pending", true]);
  await h.approve(doc.id);
  assert.equal((await call).status_code, 200);
});

Deno.test(
  "a drop answered after the wait is delivered by status, with the name that the human edited",
  SHARED,
  async () => {
    const h = house();
    const asked = await h.client.call("drop.request", {
      name: "payments",
      reason: "send invoices",
      wait_ms: 50,
      agent: { name: "late" },
    });
    assert.deepEqual([asked.status, asked.handle], ["pending", undefined]);
    const before = (await h.client.call("requests.list", {})).requests.length;
    await h.answerDrop(asked.request_id, "stripe-live", "sk_renamed_0123456789");
    const status = await h.client.call("access.status", { request_id: asked.request_id });
    assert.deepEqual(
      [status.type, status.status, status.handle, status.fingerprint],
      ["drop", "delivered", "custos:stripe-live", asked.fingerprint],
    );
    assert.equal((await h.client.call("requests.list", {})).requests.length, before, "no second card");
  },
);

Deno.test("an access request never has a handle", SHARED, async () => {
  const h = house();
  const asked = await h.client.call("access.request", {
    handle: HANDLE,
    reason: "some reads",
    methods: ["GET"],
    path_prefix: "/access",
    uses: 2,
    wait_ms: 0,
    agent: { name: "access" },
  });
  assert.equal("handle" in await h.client.call("access.status", { request_id: asked.request_id }), false);
  await h.approve(asked.request_id);
  const status = await h.client.call("access.status", { request_id: asked.request_id });
  assert.deepEqual(["handle" in status, status.status, status.grant?.uses_left], [false, "granted", 2]);
  const answer = await h.http("/access/one", { agent: "access" });
  assert.deepEqual([answer.request_id, answer.fingerprint], [asked.request_id, asked.fingerprint]);
});

Deno.test("a blank name or reason is refused and creates nothing", SHARED, async () => {
  const h = house();
  const before = (await h.client.call("requests.list", {})).requests.length;
  for (const blank of ["", "  ", "\t\n", "\u200b\u00a0"]) {
    const agent = { name: "blank" };
    const drop = (params: { name: string; reason: string }) =>
      failure(h.client.call("drop.request", { ...params, wait_ms: 0, agent }));
    assert.equal((await drop({ name: blank, reason: "why" })).kind, "bad_request");
    assert.equal((await drop({ name: "named", reason: blank })).kind, "bad_request");
    assert.equal((await failure(h.http("/blank", { agent: "blank", reason: blank }))).kind, "bad_request");
    // The client checks too, so the daemon is asked without it.
    const raw = await rawCall(h.values.socket, "drop.request", { name: "named", reason: blank, wait_ms: 0 });
    assert.equal(raw.error?.data.kind, "bad_request");
  }
  assert.equal((await h.client.call("requests.list", {})).requests.length, before);
});

Deno.test(
  "an identical request is joined while it is pending, whatever its reason, and never after its answer",
  SHARED,
  async () => {
    const h = house();
    const first = await h.ask("/joined", { agent: "joins" });
    assert.deepEqual(await h.ask("/joined", { agent: "joins", reason: "another reason" }), first);
    const others = [
      await h.ask("/joined", { agent: "joins not" }),
      await h.ask("/joined?x=1", { agent: "joins" }),
      await h.ask("/joined", { agent: "joins", headers: [["accept", "text/plain"]] }),
      await h.ask("/joined", { agent: "joins", method: "POST" }),
    ];
    assert.equal(new Set([first, ...others].map(({ id }) => id)).size, 5);
    await h.approve(first.id);
    await h.http("/joined", { agent: "joins" });
    assert.notEqual((await h.ask("/joined", { agent: "joins" })).id, first.id);
  },
);

Deno.test("a spent grant asks again", SHARED, async () => {
  const h = house();
  const first = await h.ask("/spent", { agent: "spends" });
  await h.approve(first.id);
  assert.equal((await h.http("/spent", { agent: "spends" })).status_code, 200);
  const second = await h.ask("/spent", { agent: "spends" });
  assert.notEqual(second.id, first.id);
  assert.equal(h.api.count("/spent"), 1);
  const ended = await h.client.call("access.status", { request_id: first.id });
  assert.deepEqual([ended.grant?.uses_left, ended.grant?.ended], [0, true]);
});

Deno.test(
  "a cancelled or timed-out wait leaves the request pending, and the late answer can be collected",
  SHARED,
  async () => {
    const h = house();
    for (const how of ["cancelled", "timed-out"] as const) {
      const path = `/left/${how}`;
      const leave = new AbortController();
      const wait_ms = how === "cancelled" ? 60_000 : 100;
      const call = h.http(path, { agent: "leaves", wait_ms }, { signal: leave.signal });
      const ends = assert.rejects(call);
      const { message: { doc }, words } = await h.cardFor(path);
      leave.abort(new Error("the caller leaves"));
      await ends;
      const status = await h.client.call("access.status", { request_id: doc.id });
      assert.deepEqual([status.status, status.fingerprint], ["pending", words], how);
      await h.approve(doc.id);
      assert.equal(h.api.count(path), 0, `${how}: nobody is there to whom the answer could go`);
      const answer = await h.http(path, { agent: "leaves" });
      assert.deepEqual([answer.request_id, answer.status_code, h.api.count(path)], [doc.id, 200, 1], how);
    }
  },
);

Deno.test("of two identical calls one sends, and the other gets needs_approval at once", SHARED, async () => {
  const h = house();
  const first = h.http("/twice", { agent: "twin", wait_ms: 60_000 });
  const { message: { doc }, words } = await h.cardFor("/twice");
  const second = await soon(failure(h.http("/twice", { agent: "twin", wait_ms: 60_000 })));
  assert.deepEqual([second.kind, second.id, second.fingerprint], ["needs_approval", doc.id, words]);
  await h.approve(doc.id);
  assert.equal((await first).status_code, 200);
  assert.equal(h.api.count("/twice"), 1);
});

/** A call without the client, whose own checks it would not pass. */
async function rawCall(
  socket: string,
  method: string,
  params: unknown,
): Promise<{ error?: { data: { kind: string } } }> {
  using client = Deno.createHttpClient({
    proxy: { transport: "unix", path: socket },
    poolMaxIdlePerHost: 0,
  });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch("http://custos.invalid/rpc", { method: "POST", body, client });
  return await response.json();
}
