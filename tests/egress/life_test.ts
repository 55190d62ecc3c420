/** Requests under way when something ends: the grant, the agent, the daemon; and bodies larger than any memory. */

import assert from "node:assert/strict";
import { launch, ROOT, runDeno } from "@custos/tools/launch";
import { RawServer } from "../../daemon/egress/testdata/raw_server.ts";
import { HANDLE, S, SHARED, shareHouse } from "../e2e/harness.ts";
import { filesBelow } from "../e2e/harness_files.ts";
import { leaks } from "../e2e/harness_leaks.ts";
import { failure, until } from "../e2e/harness_wait.ts";
import { BulkApi, patternHash } from "./bulk_api.ts";
import { HAS_PROC, residentBytes } from "./proc_files.ts";

const house = shareHouse();
let bulk!: BulkApi;
let raw!: RawServer;
Deno.test.beforeAll(async () => {
  bulk = new BulkApi();
  raw = new RawServer(async (say, { head }) => {
    if (head.includes("/begun")) await say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
    await new Promise(() => {});
  });
  await house().dropSecret("bulk", "bulk_value_0123456789", { origins: [bulk.origin, raw.origin] });
});
Deno.test.afterAll(async () => {
  await raw[Symbol.asyncDispose]();
  await bulk[Symbol.asyncDispose]();
});

const seen = (path: string) => raw.seen.filter(({ head }) => head.includes(` ${path} `)).length;
const when = (what: () => boolean, words: string) =>
  until(() => Promise.resolve(what() ? true : null), words);

/** A request that is approved and then hangs at the API: before its headers, or after them. */
async function hanging(path: string, agent: string) {
  const h = house();
  const ask = { agent, handle: "custos:bulk", method: "POST" };
  const asked = await h.ask(raw.origin + path, ask);
  await h.approve(asked.id, { kind: "path" });
  const leave = new AbortController();
  const params = { handle: "custos:bulk", method: "POST", url: raw.origin + path, reason: "r", wait_ms: 0 };
  const call = h.client.streamHttp({ ...params, agent: { name: agent } }, { signal: leave.signal })
    .then(async (answer) => await new Response(answer.body).text());
  call.catch(() => {});
  await when(() => seen(path) === 1, "The request did not come.");
  return { asked, call, leave };
}

Deno.test(
  "revoke and lock abort what is in flight, upstream too, before and after the headers",
  SHARED,
  async () => {
    const h = house();
    const ends: [string, () => Promise<unknown>][] = [
      ["revoke", () => h.client.call("grants.revoke", { handle: "custos:bulk" })],
      ["lock", () => h.client.call("daemon.lock", {})],
      ["phone", () => h.phone.lock()],
    ];
    for (const [what, end] of ends) {
      for (const when_ of ["silent", "begun"]) {
        const path = `/${what}/${when_}`;
        const { asked, call } = await hanging(path, `ends ${what} ${when_}`);
        const gone = raw.gone;
        await end();
        const error = await failure(call);
        assert.deepEqual([error.kind, error.id, error.fingerprint], [
          "outcome_unknown",
          asked.id,
          asked.fingerprint,
        ], path);
        await when(() => raw.gone === gone + 1, `${path}: the API's connection is still open.`);
        assert.equal((await h.logged("outcome_unknown", { id: asked.id })).length, 1, path);
        assert.equal(seen(path), 1, path);
      }
    }
  },
);

Deno.test(
  "an agent that leaves ends its request upstream, and the log says that it may have happened",
  SHARED,
  async () => {
    const h = house();
    for (const path of ["/leaves/silent", "/leaves/begun"]) {
      const { asked, call, leave } = await hanging(path, "leaves");
      const gone = raw.gone;
      leave.abort(new Error("left"));
      await assert.rejects(call);
      await when(() => raw.gone === gone + 1, `${path}: the API's connection is still open.`);
      assert.equal((await h.logged("outcome_unknown", { id: asked.id })).length, 1, path);
      assert.equal(seen(path), 1);
    }
  },
);

Deno.test("a download of 1 GB passes through in constant memory, byte for byte (B75)", SHARED, async () => {
  const h = house();
  const size = 1_000_000_000;
  const path = `/bytes/${size}`;
  const ask = { agent: "downloads", handle: "custos:bulk" };
  const asked = await h.ask(bulk.origin + path, ask);
  await h.approve(asked.id, { kind: "path" });
  const memory = async () => HAS_PROC ? await residentBytes(h.daemon.child.pid) : 0;
  const before = await memory();
  const answer = await h.client.streamHttp({
    handle: "custos:bulk",
    method: "GET",
    url: bulk.origin + path,
    reason: "r",
    wait_ms: 0,
    agent: { name: "downloads" },
  });
  let bytes = 0;
  let peak = 0;
  let last = 0;
  for await (const part of answer.body) {
    bytes += part.length;
    if (bytes - last < 50_000_000) continue;
    last = bytes;
    peak = Math.max(peak, await memory());
  }
  assert.equal(bytes, size);
  const end = answer.end();
  assert.deepEqual([end.received_bytes, end.truncated, end.redactions], [size, false, 0]);
  const [finished] = await h.logged("send_finished", { id: asked.id });
  const hash = Uint8Array.fromBase64(finished!.response_sha256!, { alphabet: "base64url" }).toHex();
  assert.equal(hash, await patternHash(size));
  assert(peak - before < 150_000_000, `${before} to ${peak}`);
});

Deno.test({
  ...SHARED,
  ignore: !HAS_PROC,
  name: "custos http writes a download of 300 MB in constant memory (B75)",
  async fn() {
    const h = house();
    const path = "/bytes/300000000";
    const asked = await h.ask(bulk.origin + path, { agent: "cli downloads", handle: "custos:bulk" });
    await h.approve(asked.id, { kind: "path" });
    const child = launch("cli", h.values, {
      args: ["http", "--handle", "bulk", bulk.origin + path],
      env: { CUSTOS_SOCKET: h.values.socket, CUSTOS_AGENT: "cli downloads" },
      stdout: "piped",
      stderr: "null",
    });
    let bytes = 0;
    const peaks: number[] = [];
    for await (const part of child.stdout) {
      bytes += part.length;
      // not at the end, when the process may have gone
      if (bytes >= (peaks.length + 1) * 40_000_000 && bytes < 290_000_000) {
        peaks.push(await residentBytes(child.pid));
      }
    }
    assert.equal((await child.status).code, 0);
    assert.equal(bytes, 300_000_000);
    assert(peaks.length >= 5);
    assert(Math.max(...peaks) < 250_000_000, `${peaks}`);
    assert(peaks.at(-1)! - peaks[0]! < 60_000_000, `it grows: ${peaks}`);
  },
});

Deno.test("a reader that stops holds the API back, and takes no memory of the daemon", SHARED, async () => {
  const h = house();
  const path = "/bytes/2000000000";
  const asked = await h.ask(bulk.origin + path, { agent: "slow", handle: "custos:bulk" });
  await h.approve(asked.id, { kind: "path" });
  const given = bulk.given;
  const leave = new AbortController();
  const params = { handle: "custos:bulk", method: "GET", url: bulk.origin + path, reason: "r", wait_ms: 0 };
  const answer = await h.client.streamHttp({ ...params, agent: { name: "slow" } }, { signal: leave.signal });
  const reader = answer.body.getReader();
  await reader.read();
  let before = -1;
  for (let still = 0; still < 10;) {
    await new Promise((resolve) => setTimeout(resolve, 30));
    still = bulk.given === before ? still + 1 : 0;
    before = bulk.given;
  }
  assert(bulk.given - given < 64_000_000, `${bulk.given - given} bytes are on their way`);
  leave.abort(new Error("left"));
  await assert.rejects(async () => {
    while (!(await reader.read()).done);
  });
});

Deno.test("a worker that fills its heap ends the whole process, which no limit of the runtime prevents", async () => {
  const worker = "const all = []; for (;;) all.push(Array.from({ length: 100_000 }, (_, i) => ({ i })));";
  const source = `
    const worker = new Worker("data:application/javascript,${
    encodeURIComponent(worker)
  }", { type: "module" });
    worker.onerror = (event) => event.preventDefault();
    setInterval(() => {}, 1_000);`;
  const child = runDeno([
    "run",
    "--v8-flags=--max-old-space-size=40",
    `data:application/javascript,${encodeURIComponent(source)}`,
  ], { cwd: ROOT, stdout: "null", stderr: "null" });
  const { success, code } = await child.status;
  assert.deepEqual([success, code], [false, 133]);
});

Deno.test(
  "a daemon that V8 aborts in the middle of a request knows afterwards what may have happened (B71)",
  SHARED,
  async () => {
    const h = house();
    const asked = await h.ask("/slow/aborted", { agent: "aborted", method: "POST" });
    await h.approve(asked.id, { kind: "path" });
    const call = failure(h.http("/slow/aborted", { agent: "aborted", method: "POST" }));
    await h.api.arrival("/slow/aborted");
    const { stderr } = await h.daemon.stop("SIGTRAP"); // as V8 ends a process that is out of heap
    assert.equal((await call).kind, "outcome_unknown");
    h.api.release();
    for (const [where, text] of await filesBelow(h.folder)) assert.deepEqual(leaks(text, S), [], where);
    assert.deepEqual(leaks(stderr, S), []);
    await h.startDaemon();
    const [unknown, ...more] = await h.logged("outcome_unknown", { id: asked.id });
    assert.equal(more.length, 0);
    assert.equal(unknown!.request_id, asked.id);
    assert.equal((await h.client.call("access.status", { request_id: asked.id })).reason, "outcome_unknown");
    assert.equal(h.api.count("/slow/aborted"), 1);
    // the grant has gone with its key: the next use asks again, and what was begun is not repeated
    const again = await h.ask("/slow/aborted", { agent: "aborted", method: "POST", handle: HANDLE });
    assert.notEqual(again.id, asked.id);
    assert.equal(h.api.count("/slow/aborted"), 1);
  },
);
