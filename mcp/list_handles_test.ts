import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import type { HandleView } from "@custos/rpc/inventory_schemas";
import { RpcError } from "@custos/rpc/rpc_error";
import { session } from "./harness_test.ts";

const grant = {
  grant_id: newId(),
  handle: "custos:github",
  origins: ["https://api.github.test"],
  methods: ["GET"],
  path: "/user",
  uses_left: 1,
  max_uses: 1,
  expires_ms: 1_900_000_000_000,
  ended: false,
};
const github: HandleView = {
  handle: "custos:github",
  name: "github",
  origins: ["https://api.github.test"],
  rules: [{ methods: ["GET", "POST"], path_prefix: "/repos" }],
  placement: { kind: "header", name: "x-key" },
  limits: { max_seconds: 3600, max_body_bytes: 1000, private_network: false },
  version: 1,
  live_grants: [],
};

Deno.test("list_handles shows where each secret may go and whether a grant is live", async () => {
  const rows: [HandleView["live_grants"], boolean][] = [
    [[], false],
    [[{ ...grant, ended: true }], false],
    [[grant], true],
    [[grant, { ...grant, grant_id: newId() }], true],
  ];
  for (const [live_grants, live] of rows) {
    await using open = await session({
      "handles.list": () => Promise.resolve({ handles: [{ ...github, live_grants }] }),
    });
    const seen = await open.call("list_handles", {});
    assert.equal(seen.isError, false);
    const [handle] = seen.fields.handles as Record<string, unknown>[];
    assert.equal(handle!.handle, "custos:github");
    assert.equal(handle!.placement, "header x-key");
    assert.equal(handle!.grant_live, live);
    assert.match(seen.texts[0]!, /custos:github: https:\/\/api\.github\.test; GET\/POST \/repos/);
    assert.equal(/no live grant/.test(seen.texts[0]!), !live);
  }
});

Deno.test("list_handles says what to do when there is no secret yet", async () => {
  await using open = await session({ "handles.list": () => Promise.resolve({ handles: [] }) });
  const seen = await open.call("list_handles", {});
  assert.match(seen.texts[0]!, /request_secret_from_human/);
  assert.deepEqual(seen.fields.handles, []);
});

Deno.test("list_handles gives a tool error with a code when the daemon is not there (B97)", async () => {
  await using open = await session({
    "handles.list": () => Promise.reject(new RpcError("daemon_unreachable", "There is no socket.")),
  });
  const seen = await open.call("list_handles", {});
  assert.equal(seen.isError, true);
  assert.equal(seen.fields.error, "daemon_unreachable");
  assert.match(String(seen.fields.next_step), /Ask the user to start it/);
});

Deno.test("list_handles refuses arguments", async () => {
  await using open = await session({});
  const seen = await open.call("list_handles", { show_values: true });
  assert.equal(seen.fields.error, "bad_request");
  assert.match(String(seen.fields.message), /Unknown argument: show_values/);
});
