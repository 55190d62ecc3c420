/** Request bodies that are too large for a call, through the real daemon and the real `custos` (DESIGN §9). */

import assert from "node:assert/strict";
import { fromBase64url, toHex } from "@custos/core/bytes";
import type { StreamPending } from "@custos/rpc/http_schemas";
import { launch } from "@custos/tools/launch";
import { type House, SHARED, shareHouse } from "../e2e/harness.ts";
import { ended } from "../e2e/harness_process.ts";
import { failure, until } from "../e2e/harness_wait.ts";
import { BulkApi, patternHash, patternStream } from "./bulk_api.ts";

const house = shareHouse();
let api!: BulkApi;
Deno.test.beforeAll(async () => {
  api = new BulkApi();
  await dropBulk(house());
});
Deno.test.afterAll(() => api[Symbol.asyncDispose]());

const MIB = 1_048_576;
const HANDLE = "custos:bulk";

async function dropBulk(h: House): Promise<void> {
  const { request_id } = await h.client.call("drop.request", {
    name: "bulk",
    reason: "set up the test",
    wait_ms: 0,
    agent: { name: "setup" },
  });
  await h.card(request_id);
  await h.phone.drop(request_id, {
    name: "bulk",
    origins: [api.origin],
    placement: { kind: "bearer" },
    rules: [{ methods: ["GET", "POST", "PUT"], path_prefix: "/" }],
    max_seconds: 3_600,
    max_body_bytes: 20 * MIB,
    private_network: true,
  }, new TextEncoder().encode("bulk_value_0123456789"));
}

function upload(
  path: string,
  size: number,
  options: { agent: string; wait_ms?: number; onPending?: (pending: StreamPending) => void; method?: string },
) {
  const { agent, wait_ms = 0, onPending, method = "POST" } = options;
  const params = {
    handle: HANDLE,
    method,
    url: api.origin + path,
    reason: "a large upload",
    wait_ms,
    agent: { name: agent },
  };
  return house().client.streamHttp(params, {
    body: patternStream(size),
    ...(onPending ? { onPending } : {}),
  });
}

const spooled = () => [...Deno.readDirSync(`${house().values.daemon_dir}/spool`)].map(({ name }) => name);
const gone = () =>
  until(() => Promise.resolve(spooled().length === 0 ? true : null), "The spool is not empty.");

Deno.test(
  "an upload waits in one call with its words, and what was approved is what is sent (B50, B143)",
  SHARED,
  async () => {
    const h = house();
    const size = 5 * MIB + 11;
    const pending = Promise.withResolvers<StreamPending>();
    const call = upload("/up/one", size, { agent: "uploads", wait_ms: 60_000, onPending: pending.resolve });
    const { request_id, fingerprint } = await pending.promise;
    const { message: { doc }, words } = await h.card(request_id);
    assert.equal(words, fingerprint);
    assert(doc.type === "http");
    assert.equal(doc.http.body_bytes, size);
    assert.equal(toHex(fromBase64url(doc.http.body_sha256)!), await patternHash(size));
    const [name] = spooled();
    const info = Deno.statSync(`${h.values.daemon_dir}/spool/${name}`);
    assert.deepEqual([(info.mode ?? 0) & 0o777, info.size], [0o600, size]);
    assert.equal(api.at("/up/one").length, 0);
    await h.approve(request_id);
    const answer = await call;
    assert.equal(answer.head.request_id, request_id);
    assert.equal(await new Response(answer.body).text(), "ok");
    const [taken, ...more] = api.at("/up/one");
    assert.equal(more.length, 0);
    assert.deepEqual([taken!.bytes, taken!.sha256, taken!.whole], [size, await patternHash(size), true]);
    assert.equal(taken!.headers["authorization"], "Bearer bulk_value_0123456789");
    assert.equal(taken!.headers["content-length"], `${size}`);
    await gone();
  },
);

Deno.test(
  "an upload whose file was changed after the card was made is refused and never sent (B143)",
  SHARED,
  async () => {
    const h = house();
    const pending = Promise.withResolvers<StreamPending>();
    const call = failure(
      upload("/up/changed", 2 * MIB, { agent: "uploads", wait_ms: 60_000, onPending: pending.resolve }),
    );
    const { request_id, fingerprint } = await pending.promise;
    const [name] = spooled();
    using file = Deno.openSync(`${h.values.daemon_dir}/spool/${name}`, { write: true });
    file.seekSync(MIB, Deno.SeekMode.Start);
    file.writeSync(Uint8Array.of(1, 2, 3, 4));
    const begun = api.begun;
    await h.approve(request_id);
    const error = await call;
    assert.deepEqual([error.kind, error.id, error.fingerprint], ["storage", request_id, fingerprint]);
    assert.equal(api.begun, begun);
    await gone();
    // the approval was not used up by what was not sent
    const again = await upload("/up/changed", 2 * MIB, { agent: "uploads" });
    assert.equal(await new Response(again.body).text(), "ok");
    assert.equal(api.at("/up/changed").length, 1);
  },
);

Deno.test(
  "an upload is refused by policy and by size before a card, and its file is gone",
  SHARED,
  async () => {
    const h = house();
    const rows: [string, number, string, string][] = [
      ["/up/large", 20 * MIB + 1, "POST", "body_too_large"],
      ["/up/get", 2 * MIB, "GET", "bad_request"],
      ["/up/method", 2 * MIB, "DELETE", "method_not_allowed"],
    ];
    for (const [path, size, method, kind] of rows) {
      const [before, cards] = [await h.logSize(), (await h.phone.cards()).length];
      const error = await failure(upload(path, size, { agent: "uploads", method }));
      assert.deepEqual([error.kind, error.id], [kind, undefined]);
      assert.ok(await h.phone.sync(10_000));
      assert.deepEqual((await h.log(before)).map((leaf) => [leaf.event, leaf.why]), [[
        "request_refused",
        kind,
      ]]);
      assert.equal((await h.phone.cards()).length, cards);
      assert.equal(api.at(path).length, 0);
      await gone();
    }
  },
);

Deno.test(
  "a caller that leaves during or after its upload leaves nothing behind, and the request stays",
  SHARED,
  async () => {
    const h = house();
    const leaving = new AbortController();
    let pieces = 0;
    const params = {
      handle: HANDLE,
      method: "POST",
      url: `${api.origin}/up/left`,
      reason: "r",
      wait_ms: 60_000,
    };
    const body = patternStream(19 * MIB, () => {
      if (++pieces === 100) leaving.abort(new Error("left"));
    });
    const agent = { name: "leaves" };
    await assert.rejects(
      h.client.streamHttp({ ...params, agent }, { body, signal: leaving.signal }),
      { message: "left" },
    );
    await gone();
    assert.ok(
      !(await h.phone.cards()).some(({ message: { doc } }) =>
        doc.type === "http" && doc.http.url.endsWith("/up/left")
      ),
    );

    const later = new AbortController();
    const pending = Promise.withResolvers<StreamPending>();
    const call = h.client.streamHttp({ ...params, agent }, {
      body: patternStream(2 * MIB),
      signal: later.signal,
      onPending: pending.resolve,
    });
    const { request_id } = await pending.promise;
    assert.equal(spooled().length, 1);
    later.abort(new Error("left"));
    await assert.rejects(call, { message: "left" });
    await gone();
    const status = await h.client.call("access.status", { request_id });
    assert.equal(status.status, "pending");
    assert.equal(api.at("/up/left").length, 0);
  },
);

Deno.test(
  "custos http -d @- uploads a large body through one call, at a terminal or not (B50)",
  SHARED,
  async () => {
    const h = house();
    const size = 6 * MIB;
    const args = [
      "http",
      "--handle",
      HANDLE,
      "-X",
      "PUT",
      "-d",
      "@-",
      "--wait",
      "60",
      `${api.origin}/up/cli`,
    ];
    const child = launch("cli", h.values, {
      args,
      env: { CUSTOS_SOCKET: h.values.socket, CUSTOS_AGENT: "cli uploads", NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    });
    const fed = patternStream(size).pipeTo(child.stdin);
    const done = ended(child);
    const { message: { doc }, words } = await h.cardFor("/up/cli");
    await h.approve(doc.id);
    await fed;
    const ran = await done;
    assert.deepEqual([ran.code, ran.stdout], [0, "ok"], ran.stderr);
    assert.ok(ran.stderr.includes(`Request ${doc.id}  fingerprint: ${words}`), ran.stderr);
    const [taken, ...more] = api.at("/up/cli");
    assert.equal(more.length, 0);
    assert.deepEqual([taken!.method, taken!.sha256], ["PUT", await patternHash(size)]);
    assert.equal((await h.logged("request_created", { id: doc.id })).length, 1);
    await gone();
  },
);

Deno.test(
  "a daemon that dies while an upload waits leaves no part of it after the next start",
  SHARED,
  async () => {
    const h = house();
    const pending = Promise.withResolvers<StreamPending>();
    const call = failure(
      upload("/up/crash", 3 * MIB, { agent: "crash", wait_ms: 60_000, onPending: pending.resolve }),
    );
    const { request_id } = await pending.promise;
    assert.equal(spooled().length, 1);
    await h.daemon.stop("SIGKILL");
    const error = await call;
    assert.deepEqual([error.kind, error.id], ["outcome_unknown", request_id]);
    assert.equal(spooled().length, 1);
    await h.startDaemon();
    assert.deepEqual(spooled(), []);
    assert.equal(api.at("/up/crash").length, 0);
  },
);
