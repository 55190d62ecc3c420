import assert from "node:assert/strict";
import { session, status, WORDS } from "./harness_test.ts";

const ask = { name: "github", reason: "To read the issues that you asked about." };

Deno.test("request_secret_from_human delivers a drop that was answered after the wait, by a poll that creates nothing", async () => {
  const { type, ...filed } = status({ type: "drop" });
  let delivered = false;
  await using open = await session({
    "drop.request": () => Promise.resolve(filed),
    // the human chose another name on the phone
    "access.status": () =>
      Promise.resolve({
        ...filed,
        type,
        ...(delivered ? { status: "delivered" as const, handle: "custos:github-work" } : {}),
      }),
  });
  const pending = await open.call("request_secret_from_human", { ...ask, wait_seconds: 0 });
  assert.equal(pending.isError, false);
  assert.equal(pending.fields.status, "pending");
  assert.equal(pending.fields.fingerprint, WORDS);
  assert.equal(pending.fields.poll_tool, "request_secret_from_human");
  assert.equal(pending.fields.poll_request_id, filed.request_id);
  delivered = true;
  const seen = await open.call("request_secret_from_human", { request_id: filed.request_id });
  assert.equal(seen.isError, false);
  assert.equal(seen.fields.status, "delivered");
  assert.equal(seen.fields.handle, "custos:github-work");
  assert.equal(seen.fields.fingerprint, WORDS);
  assert.deepEqual(open.calls.map(({ method }) => method), ["drop.request", "access.status"]);
});

Deno.test("every result of request_secret_from_human carries the request's id and words, errors too", async () => {
  for (const end of ["pending", "delivered", "denied", "expired", "withdrawn"] as const) {
    for (const poll of [false, true]) {
      const state = status({
        type: "drop",
        status: end,
        ...(end === "delivered" ? { handle: "custos:a" } : {}),
      });
      const { type: _, ...filed } = state;
      await using open = await session({
        "drop.request": () => Promise.resolve(filed),
        "access.status": () => Promise.resolve(state),
      });
      const args = poll ? { request_id: state.request_id } : ask;
      const seen = await open.call("request_secret_from_human", { ...args, wait_seconds: 0 });
      const name = `${end}, ${poll ? "polled" : "asked"}`;
      assert.equal(seen.fields.status, end, name);
      assert.equal(seen.fields.request_id, state.request_id, name);
      assert.equal(seen.fields.fingerprint, WORDS, name);
      assert.ok(seen.texts[0]!.includes(state.request_id) && seen.texts[0]!.includes(WORDS), name);
      assert.equal(seen.isError, ["denied", "expired", "withdrawn"].includes(end), name);
    }
  }
});

Deno.test("a poll by request_secret_from_human of a drop that is pending names its own tool again", async () => {
  const state = status({ type: "drop" });
  await using open = await session({ "access.status": () => Promise.resolve(state) });
  for (const tool of ["request_secret_from_human", "request_access"]) {
    const seen = await open.call(tool, { request_id: state.request_id, wait_seconds: 0 });
    assert.equal(seen.fields.poll_tool, "request_secret_from_human");
  }
  const access = status();
  await using other = await session({ "access.status": () => Promise.resolve(access) });
  const seen = await other.call("request_secret_from_human", {
    request_id: access.request_id,
    wait_seconds: 0,
  });
  assert.equal(seen.fields.poll_tool, "request_access");
});

Deno.test("request_secret_from_human refuses what does not fit, and the daemon hears nothing", async () => {
  const id = status().request_id;
  const rows: [Record<string, unknown>, RegExp][] = [
    [{}, /Give name and reason to ask, or only request_id to poll/],
    [{ name: "github" }, /Give name and reason/],
    [{ reason: "x" }, /Give name and reason/],
    [{ name: "", reason: "x" }, /name: must be/],
    [{ name: "  ", reason: "x" }, /name: must be/],
    [{ name: "github", reason: "" }, /reason: must say why/],
    [{ name: "github", reason: " \n\u200b" }, /reason: must say why/],
    [{ name: "Git Hub", reason: "x" }, /name: must be/],
    [{ name: "github", request_id: id }, /stands alone, but name came with it/],
    [{ suggested_origins: ["https://a.test"], request_id: id }, /stands alone, but suggested_origins/],
    [{ ...ask, value: "x" }, /Unknown argument: value/],
    [{ ...ask, suggested_placement: "header" }, /suggested_placement_name/],
    [{ ...ask, suggested_placement: "bearer", suggested_placement_name: "x" }, /suggested_placement_name/],
    [{ ...ask, suggested_placement_name: "x" }, /suggested_placement_name/],
  ];
  await using open = await session({});
  for (const [args, text] of rows) {
    const seen = await open.call("request_secret_from_human", args);
    assert.equal(seen.isError, true, JSON.stringify(args));
    assert.equal(seen.fields.error, "bad_request");
    assert.match(String(seen.fields.message), text);
  }
  assert.deepEqual(open.calls, []);
});

Deno.test("request_secret_from_human never repeats an argument that it refuses: it could be a secret", async () => {
  await using open = await session({});
  const seen = await open.call("request_secret_from_human", { name: "sk-live-4f9c2a7e SECRET", reason: "x" });
  assert.equal(seen.fields.error, "bad_request");
  assert.ok(!JSON.stringify(seen).includes("4f9c2a7e"));
});

Deno.test("request_secret_from_human passes suggestions on in the daemon's terms", async () => {
  const { type: _, ...filed } = status({ type: "drop" });
  const rows: [Record<string, unknown>, unknown][] = [
    [{}, undefined],
    [{ suggested_origins: ["https://a.test"] }, { origins: ["https://a.test"] }],
    [{ suggested_placement: "bearer" }, { placement: { kind: "bearer" } }],
    [
      { suggested_placement: "header", suggested_placement_name: "X-Key" },
      { placement: { kind: "header", name: "X-Key", template: "{secret}" } },
    ],
    [
      { suggested_placement: "basic", suggested_placement_name: "me" },
      { placement: { kind: "basic", username: "me" } },
    ],
    [
      { suggested_placement: "query", suggested_placement_name: "key" },
      { placement: { kind: "query", name: "key" } },
    ],
    [{ suggested_methods: ["POST"] }, { rules: [{ methods: ["POST"], path_prefix: "/" }] }],
    [{ suggested_path_prefix: "/v1" }, { rules: [{ methods: ["GET"], path_prefix: "/v1" }] }],
  ];
  for (const [args, suggest] of rows) {
    await using open = await session({ "drop.request": () => Promise.resolve(filed) });
    await open.call("request_secret_from_human", { ...ask, ...args, wait_seconds: 0 });
    assert.deepEqual(open.calls[0]!.params.suggest, suggest);
  }
});

Deno.test("request_secret_from_human says outcome_unknown where a delivered drop has no handle", async () => {
  const { type: _, ...filed } = status({ type: "drop", status: "delivered" });
  await using open = await session({ "drop.request": () => Promise.resolve(filed) });
  const seen = await open.call("request_secret_from_human", ask);
  assert.equal(seen.fields.error, "outcome_unknown");
  assert.equal(seen.fields.fingerprint, WORDS);
});
