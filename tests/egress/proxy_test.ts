/** Proxies of the environment: `fetch` obeys them, also in workers and for loopback, so the daemon takes them away. */

import assert from "node:assert/strict";
import { commandLine, runDeno } from "@custos/tools/launch";
import { House } from "../e2e/harness.ts";
import { daemonArgs } from "../e2e/harness_parts.ts";
import { Server } from "../e2e/harness_process.ts";
import { StubApi } from "../e2e/harness_stub.ts";

Deno.test("a daemon that is started with proxy variables sends nothing through a proxy", async () => {
  await using h = await House.start();
  await using proxy = new StubApi();
  await h.daemon.stop();
  const env = Object.fromEntries(
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]
      .map((name) => [name, proxy.origin]),
  );
  const command = commandLine("daemon", h.values, daemonArgs(h.values, h.relay_url));
  const piped = { stdout: "piped", stderr: "piped" } as const;
  h.daemon = await Server.of(
    "daemon",
    runDeno(command, { ...piped, env: { ...env, NO_PROXY: "", no_proxy: "" } }),
  );
  const asked = await h.ask("/direct", { agent: "proxied" });
  await h.approve(asked.id);
  assert.equal((await h.http("/direct", { agent: "proxied" })).status_code, 200);
  assert.equal(h.api.count("/direct"), 1);
  assert.equal(proxy.connections, 0);

  // that these variables would have been obeyed: the same fetch in a process that keeps them
  const fetching = `await fetch("${h.api.origin}/proxied").then((r) => r.text())`;
  const plain = runDeno(["eval", fetching], {
    ...piped,
    env: { HTTP_PROXY: proxy.origin, NO_PROXY: "", no_proxy: "" },
  });
  await plain.output();
  assert.equal(proxy.connections, 1);
  assert.equal(h.api.count("/proxied"), 0);
});
