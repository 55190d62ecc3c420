/** CASES L: what another program of the same user can do through the socket, and what it cannot. */

import assert from "node:assert/strict";
import { ACTS, type MethodName, METHODS } from "@custos/rpc";
import { RpcError } from "@custos/rpc/rpc_error";
import { COMMANDS } from "../../cli/commands.ts";
import { custos, run } from "../e2e/harness_process.ts";
import { S, SHARED, shareHouse } from "../e2e/harness.ts";

const house = shareHouse();

/** Every read that needs no id of something that is not there, as another program would call it. */
async function everythingReadable(
  client: ReturnType<typeof house>["client"],
  request_id: string,
): Promise<string> {
  const params: Partial<Record<MethodName, object>> = {
    "access.status": { request_id, wait_ms: 0 },
    "receipt.get": { request_id },
    "log.read": { limit: 1_000 },
    "pair.status": { pairing: request_id, wait_ms: 0 },
  };
  const texts = [];
  for (const method of Object.keys(METHODS) as MethodName[]) {
    if (ACTS[method]) continue;
    const answer = await client.call(method, (params[method] ?? {}) as never).catch((error) => {
      if (!(error instanceof RpcError)) throw error;
      return error.message;
    });
    texts.push(`${method}: ${JSON.stringify(answer)}`);
  }
  return texts.join("\n");
}

Deno.test(
  "another program of the user sees that a call was made, by whom and for what, and not its answer (B176)",
  SHARED,
  async () => {
    const h = house();
    const asked = await h.ask("/echo/private", { agent: "first-agent" });
    await h.approve(asked.id);
    const answer = await h.http("/echo/private", { agent: "first-agent" });
    assert.match(answer.body, /you_sent/);
    const seen = await everythingReadable(h.client, asked.id);
    assert.match(seen, /first-agent/);
    assert.match(seen, /echo\/private/);
    assert.doesNotMatch(seen, /you_sent/);
    assert.ok(!seen.includes(S));
  },
);

Deno.test(
  "a grant for one request is not for another program's request of another path (B176)",
  SHARED,
  async () => {
    const h = house();
    const asked = await h.ask("/mine", { agent: "first-agent" });
    await h.approve(asked.id);
    const other = await h.ask("/other", { agent: "second-agent" });
    assert.notEqual(other.id, asked.id);
    assert.equal(h.api.count("/other"), 0);
    await h.deny(other.id);
  },
);

Deno.test("no command gives the value of a secret, with a live grant or without (B177)", SHARED, async () => {
  const h = house();
  const asked = await h.ask("/value", { agent: "asks" });
  await h.approve(asked.id);
  for (const name of ["get", "export", "reveal", "secret", "backup", "config", "debug", "env"]) {
    if (name in COMMANDS) continue;
    const { code, stdout } = await h.custos("asks", [name, "demo-key"]);
    assert.deepEqual([code, stdout], [2, ""], name);
  }
  const reads = [
    ["status"],
    ["handles"],
    ["grants"],
    ["requests"],
    ["devices"],
    ["log"],
    ["watch", "--once"],
    ["doctor"],
  ];
  for (const args of reads) {
    for (const more of [[], ["--json"]]) {
      const { stdout, stderr } = await h.custos("asks", [...args, ...more]);
      assert.ok(stdout.length > 0 || stderr.length > 0, args.join(" "));
      assert.ok(!(stdout + stderr).includes(S), args.join(" "));
    }
  }
});

Deno.test(
  "custos and custos-mcp make no file, so that running them once as root leaves none in the way (B180)",
  SHARED,
  async () => {
    const h = house();
    const home = await Deno.makeTempDir({ prefix: "custos-home-" });
    const cache = { DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno` };
    try {
      for (const args of [["status"], ["handles"], ["doctor"], ["completions", "bash"], ["log", "verify"]]) {
        await custos(h.values, "once", args, { env: { HOME: home, XDG_RUNTIME_DIR: home, ...cache } });
      }
      const mcp = await run("mcp", h.values, ["--socket", h.values.socket], {
        env: { HOME: home, ...cache },
        stdin: "",
      });
      assert.equal(mcp.code, 0, mcp.stderr);
      assert.deepEqual([...Deno.readDirSync(home)], []);
    } finally {
      await Deno.remove(home, { recursive: true });
    }
  },
);
