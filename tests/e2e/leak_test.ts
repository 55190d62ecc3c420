/** The leak check of CASES.md: after a whole day of a custos, a secret is in nothing that it wrote, said or stored. */

import assert from "node:assert/strict";
import { FileStore } from "../phone/file_store.ts";
import { HANDLE, House, S } from "./harness.ts";
import { filesBelow, latin1 } from "./harness_files.ts";
import { formsOf, leaks } from "./harness_leaks.ts";
import { McpAgent } from "./harness_mcp.ts";
import { failure } from "./harness_wait.ts";

/** The awkward secret of CASES.md. */
const S2 = 'sk-test/Ab+c=9"q\\z';

Deno.test("formsOf() finds a value in the forms that APIs and tools make of it", () => {
  const rows = [
    `{"token":${JSON.stringify(S2)}}`,
    `?key=${encodeURIComponent(S2)}&x`,
    btoa(`user:${S2}`),
    btoa(`Bearer ${S2} more`),
    btoa(`${S2}x`).replaceAll("+", "-").replaceAll("/", "_"),
    [...new TextEncoder().encode(S2)].map((byte) => byte.toString(16).padStart(2, "0")).join("")
      .toUpperCase(),
  ];
  for (const row of rows) assert.ok(leaks(`…${row}…`, S2).length > 0, row);
  assert.deepEqual(leaks("custos:odd-key [custos:odd-key]", S2), []);
  assert.ok(formsOf(S).every((form) => form.length >= 20 || form === S));
});

Deno.test("no secret is in any output, frame or file of an end-to-end run", async () => {
  const said: Record<string, string> = {};
  await using h = await House.start({ phone_store: (folder) => new FileStore(`${folder}/phone`) });
  const odd = { kind: "header" as const, name: "x-api-key", template: "{secret}" };
  await h.dropSecret("odd-key", S2, { placement: odd });
  {
    await using mcp = await McpAgent.start(h.values, "leaks");
    for (const handle of [HANDLE, "custos:odd-key"]) {
      const url = `${h.api.origin}/echo/${handle.slice(7)}`;
      const asked = await h.ask(new URL(url).pathname, { agent: "leaks", handle });
      await h.approve(asked.id, { kind: "path" });
      said[`inline ${handle}`] = JSON.stringify(
        await h.http(new URL(url).pathname, { agent: "leaks", handle }),
      );
      const rows = [["-i", url], ["--json", url], ["--handle", handle, "--max-bytes", "60", url]];
      for (const row of rows) {
        const ran = await h.custos("leaks", [
          "http",
          "--handle",
          handle,
          ...row.filter((one) => one !== handle && one !== "--handle"),
        ]);
        assert.equal(ran.code, 0, ran.stderr);
        said[`http ${handle} ${row[0]}`] = ran.stdout + ran.stderr;
      }
      await mcp.call("http_request", { handle, reason: "r", url });
    }
    for (const path of ["/cut/leak", "/status/500"]) {
      const asked = await h.ask(path, { agent: "leaks" });
      await h.approve(asked.id);
      said[path] = await h.http(path, { agent: "leaks" }).then(
        JSON.stringify,
        (error) => String(error.stack),
      );
    }
    said["refused"] = JSON.stringify(await failure(h.http(`${h.evil.origin}/x`, { agent: "leaks" })));
    await mcp.call("list_handles", {});
    said["mcp"] = mcp.frames.join("\n");
  }
  for (
    const args of [
      ["status"],
      ["handles"],
      ["requests"],
      ["grants"],
      ["devices"],
      ["log", "--limit", "500"],
      ["log", "verify"],
    ]
  ) {
    for (const form of [[], ["--json"]]) {
      const ran = await h.custos("leaks", [...args, ...form]);
      assert.equal(ran.code, 0, `${args}: ${ran.stderr}`);
      said[args.join(" ") + form] = ran.stdout + ran.stderr;
    }
  }
  said["log"] = JSON.stringify(await h.log());
  said["phone frames"] = h.posted.map(({ init }) => latin1(init.body as Uint8Array)).join("\n");

  // While everything runs, grants included, and again once it has ended.
  for (const [path, text] of await filesBelow(h.folder)) said[`live ${path}`] = text;
  const { stderr } = await h.daemon.stop();
  said["daemon stderr"] = stderr;
  said["relay stderr"] = (await h.relay.stop()).stderr;
  for (const [path, text] of await filesBelow(h.folder)) said[path] = text;

  const api = JSON.stringify(h.api.seen);
  assert.ok(leaks(api, S).length > 0 && leaks(api, S2).length > 0, "both were sent to their API");
  assert.ok(
    Object.keys(said).some((name) => name.endsWith("custos.db-wal")),
    "the log of the database is among them",
  );
  assert.ok(Object.keys(said).some((name) => name.endsWith("relay.db")));
  assert.ok(said["mcp"]!.includes("[custos:odd-key]") && said["mcp"]!.includes("[custos:demo-key]"));
  for (const [where, text] of Object.entries(said)) {
    for (const value of [S, S2]) assert.deepEqual(leaks(text, value), [], where);
  }
});
