/** Request bodies that are too large for memory: hashed before the card, sent as they were, and gone afterwards. */

import assert from "node:assert/strict";
import { toBase64url } from "@custos/core/bytes";
import { SHARED, shareHouse } from "./harness.ts";
import { filesBelow } from "./harness_files.ts";
import { until } from "./harness_wait.ts";

const house = shareHouse();

/** Text that does not repeat within a block, so that a swapped or lost part would show. */
const LARGE = Array.from({ length: 300_000 }, (_, at) => at.toString(36).padStart(9, ".")).join("\n");

const spooled = async (folder: string) => (await filesBelow(`${folder}/spool`)).size;

Deno.test(
  "custos http sends a large body from stdin once, byte for byte what was approved",
  SHARED,
  async () => {
    const h = house();
    const running = h.custos("uploads", ["http", "-d", "@-", `${h.api.origin}/upload`], { stdin: LARGE });
    const { message: { doc } } = await h.cardFor("/upload");
    assert.ok(doc.type === "http");
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(LARGE));
    assert.deepEqual(
      [doc.http.method, doc.http.body_bytes, doc.http.body_sha256],
      ["POST", LARGE.length, toBase64url(new Uint8Array(hash))],
    );
    assert.equal(await spooled(h.values.daemon_dir), 1, "it waits on the disk");
    await h.approve(doc.id);
    const ran = await running;
    assert.deepEqual([ran.code, ran.stdout], [0, "ok"], ran.stderr);
    const [seen, ...more] = h.api.seen.filter(({ path }) => path === "/upload");
    assert.ok(seen!.body === LARGE && more.length === 0);
    await until(
      async () => await spooled(h.values.daemon_dir) === 0 || null,
      "The body was left on the disk.",
    );
  },
);

Deno.test("a large body does not outlive its denial, nor the daemon", SHARED, async () => {
  const h = house();
  const denied = h.custos("uploads", ["http", "-d", "@-", `${h.api.origin}/denied`], { stdin: LARGE });
  await h.deny((await h.cardFor("/denied")).message.doc.id);
  assert.equal((await denied).code, 4);
  await until(async () => await spooled(h.values.daemon_dir) === 0 || null, "The body was left on the disk.");

  const killed = h.custos("uploads", ["http", "-d", "@-", `${h.api.origin}/killed`], { stdin: LARGE });
  await h.cardFor("/killed");
  assert.equal(await spooled(h.values.daemon_dir), 1);
  await h.restartDaemon("SIGKILL");
  assert.equal((await killed).code, 5);
  assert.equal(await spooled(h.values.daemon_dir), 0);
  assert.equal(h.api.connections, 1, "only the one that was approved");
});
