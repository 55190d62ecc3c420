/** https as real secrets use it: TLS to an API on loopback, whose certificate the daemon is told to trust. */

import assert from "node:assert/strict";
import { commandLine, runDeno } from "@custos/tools/launch";
import { House } from "../e2e/harness.ts";
import { daemonArgs } from "../e2e/harness_parts.ts";
import { Server } from "../e2e/harness_process.ts";
import { failure } from "../e2e/harness_wait.ts";
import { type TestCertificate, testCertificate } from "./test_certificate.ts";

/** An API behind TLS that echoes the credential, and redirects where a test says. */
function tlsApi(certificate: TestCertificate) {
  const seen: { path: string; authorization: string | null }[] = [];
  let location = "/";
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {}, ...certificate }, (request) => {
    const { pathname: path } = new URL(request.url);
    seen.push({ path, authorization: request.headers.get("authorization") });
    if (path === "/redirect") return new Response(null, { status: 301, headers: { location } });
    return Response.json({ you_sent: request.headers.get("authorization") });
  });
  return {
    seen,
    origin: `https://127.0.0.1:${server.addr.port}`,
    redirect: (to: string) => void (location = to),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** A house whose daemon trusts these certificates beside the usual ones. */
async function houseTrusting(certificates: TestCertificate[]): Promise<House> {
  const h = await House.start();
  await h.daemon.stop();
  const path = `${h.folder}/trusted.pem`;
  await Deno.writeTextFile(path, certificates.map(({ cert }) => cert).join(""));
  const command = commandLine("daemon", h.values, daemonArgs(h.values, h.relay_url));
  const piped = { stdout: "piped", stderr: "piped" } as const;
  h.daemon = await Server.of("daemon", runDeno(command, { ...piped, env: { DENO_CERT: path } }));
  return h;
}

Deno.test("a cell speaks TLS to a trusted API, scrubs what it echoes, and follows no redirect to http (B27)", async () => {
  const certificate = await testCertificate({ host: "127.0.0.1" });
  await using api = tlsApi(certificate);
  await using h = await houseTrusting([certificate]);
  const value = "tls_value_0123456789";
  await h.dropSecret("tls", value, { origins: [api.origin] });
  api.redirect(`${h.api.origin}/stolen`); // the same host, another port, and in the clear
  for (const path of ["/echo", "/redirect"]) {
    const ask = { agent: "tls", handle: "custos:tls" };
    const asked = await h.ask(api.origin + path, ask);
    await h.approve(asked.id);
    const answer = await h.http(api.origin + path, ask);
    if (path === "/echo") assert.deepEqual(JSON.parse(answer.body), { you_sent: "Bearer [custos:tls]" });
    else assert.equal(answer.status_code, 301);
  }
  assert.deepEqual(api.seen, [
    { path: "/echo", authorization: `Bearer ${value}` },
    { path: "/redirect", authorization: `Bearer ${value}` },
  ]);
  assert.equal(h.api.connections, 0);
});

Deno.test("a cell sends nothing where TLS fails, and says why without the secret (B70, B167)", async () => {
  const good = { host: "127.0.0.1" };
  const expired = await testCertificate({ ...good, not_after: new Date(Date.now() - 86_400_000) });
  const other = await testCertificate({ host: "other.example.test" });
  const stranger = await testCertificate(good);
  await using h = await houseTrusting([expired, other]);
  const rows: [string, TestCertificate][] = [["expired", expired], ["of-another-host", other], [
    "unknown",
    stranger,
  ]];
  for (const [name, certificate] of rows) {
    await using api = tlsApi(certificate);
    await fails(h, name, api.origin, /certificate was not accepted/);
    assert.deepEqual(api.seen, [], name);
  }
  let connections = 0;
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      connections++;
      await connection.read(new Uint8Array(1_000)); // the client's hello
      connection.close();
    }
  })();
  await fails(h, "reset", `https://127.0.0.1:${listener.addr.port}`, /Nothing was sent/);
  assert.equal(connections, 1);
  listener.close();
  await serving;
});

/** Approves a POST with a secret in the query, and looks at how it fails. */
async function fails(h: House, name: string, origin: string, says: RegExp): Promise<void> {
  const value = `${name}_value_0123456789`;
  await h.dropSecret(name, value, { origins: [origin], placement: { kind: "query", name: "key" } });
  const ask = { agent: "tls", handle: `custos:${name}`, method: "POST" };
  const asked = await h.ask(`${origin}/x`, ask);
  await h.approve(asked.id);
  const error = await failure(h.http(`${origin}/x`, ask));
  assert.equal(error.kind, "upstream_unreachable", `${name}: ${error.message}`);
  assert.match(error.message, says, name);
  assert.ok(error.message.includes("127.0.0.1") && !error.message.includes(value));
  const [failed] = await h.logged("send_failed", { id: asked.id });
  assert.equal(failed!.why, "upstream_unreachable");
}
