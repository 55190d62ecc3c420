/** The decisions of ADR 0005 as an MCP client meets them: a real server, a real daemon, a real phone. */

import assert from "node:assert/strict";
import { HANDLE, SHARED, shareHouse } from "./harness.ts";
import { McpAgent, type ToolAnswer } from "./harness_mcp.ts";

const house = shareHouse();

/** The words of an answer, after checking that fields and text both name the request. */
function words({ fields, text }: ToolAnswer): unknown[] {
  const { request_id, fingerprint } = fields;
  assert.match(String(fingerprint), /^[a-z-]+ [a-z-]+ [a-z-]+$/);
  assert.ok(text.includes(String(request_id)) && text.includes(String(fingerprint)), text);
  return [request_id, fingerprint];
}

Deno.test("every MCP request result carries the fingerprint that the phone shows", SHARED, async () => {
  const h = house();
  await using mcp = await McpAgent.start(h.values, "mcp-words");
  const get = { handle: HANDLE, reason: "read", url: `${h.api.origin}/mcp/words` };

  const filed = await mcp.call("http_request", get);
  assert.deepEqual([filed.fields["status"], filed.error], ["needs_approval", false]);
  const id = String(filed.fields["request_id"]);
  assert.deepEqual(words(filed), [id, (await h.card(id)).words]);
  const polled = await mcp.call("request_access", { request_id: id });
  assert.equal(polled.fields["status"], "pending");
  assert.deepEqual(words(polled), words(filed));
  await h.approve(id);
  const granted = await mcp.call("request_access", { request_id: id });
  assert.equal(granted.fields["status"], "granted");
  assert.deepEqual(words(granted), words(filed));
  const answered = await mcp.call("http_request", get);
  assert.deepEqual([answered.fields["status"], answered.fields["status_code"]], ["answered", 200]);
  assert.deepEqual(words(answered), words(filed));

  const access = await mcp.call("request_access", { handle: HANDLE, reason: "several reads" });
  assert.equal(access.fields["status"], "pending");
  assert.equal(words(access)[1], (await h.card(String(access.fields["request_id"]))).words);
  await h.deny(String(access.fields["request_id"]));
  const denied = await mcp.call("request_access", { request_id: access.fields["request_id"] });
  assert.deepEqual([denied.fields["status"], denied.error], ["denied", true]);
  assert.deepEqual(words(denied), words(access));

  const other = { ...get, url: `${h.api.origin}/mcp/denied` };
  const waiting = mcp.call("http_request", { ...other, wait_seconds: 60 });
  const card = await h.cardFor("/mcp/denied");
  await h.logged("request_joined", { id: card.message.doc.id }); // the tool files it first, then waits
  await h.deny(card.message.doc.id);
  const refused = await waiting;
  assert.deepEqual([refused.fields["status"], refused.error], ["denied", true]);
  assert.deepEqual(words(refused), [card.message.doc.id, card.words]);
});

Deno.test("a late drop is delivered by an MCP poll, and the poll creates nothing", SHARED, async () => {
  const h = house();
  await using mcp = await McpAgent.start(h.values, "mcp-drop");
  const tool = "request_secret_from_human";
  const asked = await mcp.call(tool, { name: "weather", reason: "forecasts" });
  assert.equal(asked.fields["status"], "pending");
  const [id, fingerprint] = words(asked);
  const count = async () => (await h.client.call("requests.list", {})).requests.length;
  const before = await count();
  const early = await mcp.call(tool, { request_id: id });
  assert.deepEqual([early.fields["status"], ...words(early)], ["pending", id, fingerprint]);
  await h.answerDrop(String(id), "weather-eu", "wx_0123456789abcdef");
  const late = await mcp.call(tool, { request_id: id });
  assert.deepEqual(
    [late.fields["status"], late.fields["handle"], ...words(late)],
    ["delivered", "custos:weather-eu", id, fingerprint],
  );
  assert.equal(await count(), before);
});

Deno.test("the MCP server refuses a blank name or reason before anybody is asked", SHARED, async () => {
  const h = house();
  await using mcp = await McpAgent.start(h.values, "mcp-blank");
  const before = (await h.client.call("requests.list", {})).requests.length;
  const url = `${h.api.origin}/mcp/blank`;
  const rows: [string, Record<string, unknown>][] = [
    ["request_secret_from_human", { name: " ", reason: "why" }],
    ["request_secret_from_human", { name: "named", reason: " \t " }],
    ["request_secret_from_human", { name: "named" }],
    ["request_access", { handle: HANDLE, reason: "" }],
    ["http_request", { handle: HANDLE, url, reason: "\u200b" }],
  ];
  for (const [name, args] of rows) {
    const { error, fields } = await mcp.call(name, args);
    assert.deepEqual([error, fields["error"]], [true, "bad_request"], JSON.stringify(args));
  }
  assert.equal((await h.client.call("requests.list", {})).requests.length, before);
});

Deno.test("an MCP client that cancels ends its wait and leaves the request pending", SHARED, async () => {
  const h = house();
  await using mcp = await McpAgent.start(h.values, "mcp-cancel");
  const args = { handle: HANDLE, reason: "read", url: `${h.api.origin}/mcp/cancel` };
  const stop = new AbortController();
  const call = mcp.client.callTool(
    { name: "http_request", arguments: { ...args, wait_seconds: 60 } },
    undefined,
    { signal: stop.signal },
  );
  const ends = assert.rejects(call);
  const { message: { doc } } = await h.cardFor("/mcp/cancel");
  stop.abort("the user pressed stop");
  await ends;
  const status = await mcp.call("request_access", { request_id: doc.id });
  assert.equal(status.fields["status"], "pending");
  await h.approve(doc.id);
  const answer = await mcp.call("http_request", args);
  assert.deepEqual([answer.fields["status"], h.api.count("/mcp/cancel")], ["answered", 1]);
});
