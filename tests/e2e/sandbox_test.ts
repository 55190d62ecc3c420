/** Processes as they are sandboxed (DESIGN §3): the flags that they use, and what the daemon does not start under. */

import assert from "node:assert/strict";
import { auditFindings } from "@custos/tools/audit";
import { commandLine, launch, ROOT, runDeno } from "@custos/tools/launch";
import { placesIn } from "@custos/tools/paths";
import { flagsOf, type PartName, PARTS } from "@custos/tools/permissions";
import { HANDLE, House, SHARED, shareHouse } from "./harness.ts";
import { McpAgent } from "./harness_mcp.ts";
import { daemonArgs } from "./harness_parts.ts";
import { type Ran, run } from "./harness_process.ts";

const house = shareHouse();

Deno.test("every process uses exactly the permissions that its flags declare", async () => {
  const used: Partial<Record<PartName, string>> = {};
  const read = async (part: PartName, file: string) => {
    used[part] = (used[part] ?? "") + await Deno.readTextFile(file);
  };
  await using h = await House.start({ audited: true });
  const asked = await h.ask("/audited", { agent: "audited" });
  await h.approve(asked.id, { kind: "path" });
  const commands = [
    ["http", `${h.api.origin}/audited`],
    ["drop", "audited", "--reason", "r", "--wait", "0"],
    ["status"],
    ["log", "verify"],
    ["--help"],
  ];
  for (const [at, args] of commands.entries()) {
    const audit_file = `${h.folder}/audit.cli.${at}`;
    const ran = await h.custos("audited", args, { audit_file });
    assert.ok(ran.code === 0 || ran.code === 3, ran.stderr);
    await read("cli", audit_file);
  }
  {
    await using mcp = await McpAgent.start(h.values, "audited", `${h.folder}/audit.mcp`);
    const url = `${h.api.origin}/audited`;
    const answer = await mcp.call("http_request", { handle: HANDLE, reason: "r", url });
    assert.equal(answer.fields["status"], "answered");
    await mcp.call("list_handles", {});
  }
  await read("mcp", `${h.folder}/audit.mcp`);
  await h.daemon.stop();
  await h.relay.stop();
  await read("daemon", `${h.folder}/audit.daemon`);
  await read("relay", `${h.folder}/audit.relay`);
  for (const part of ["cli", "mcp", "daemon", "relay"] as const) {
    const findings = auditFindings(flagsOf(part, h.values), used[part]!);
    assert.deepEqual(findings, { undeclared: [], unused: [] }, part);
  }
});

Deno.test("the daemon refuses to start with more than it needs, and makes nothing", SHARED, async () => {
  const h = house();
  const folder = await Deno.makeTempDir({ dir: h.folder });
  const values = {
    ...placesIn(folder, { relay_port: 0, profile: "lan" }),
    relay_socket: h.values.relay_socket,
  };
  const args = daemonArgs(values, h.relay_url);
  const [first, ...line] = commandLine("daemon", values, args);
  const with_flags = (flags: string[], without = "") => {
    const kept = line.filter((word) => word !== without && !flags.some((flag) => sameKind(flag, word)));
    return runDeno([first!, ...flags, ...kept], { stdout: "piped", stderr: "piped" });
  };
  const with_env = (env: Record<string, string>) =>
    launch("daemon", values, { args, env, stdout: "piped", stderr: "piped" });
  const all = [
    first!,
    "--frozen",
    "--unstable-worker-options",
    "-A",
    `${ROOT}/${PARTS.daemon.module}`,
    ...args,
  ];
  const rows: [string, () => Deno.ChildProcess, RegExp][] = [
    [
      "all permissions",
      () => runDeno(all, { stdout: "piped", stderr: "piped" }),
      /the whole permission "run"/,
    ],
    ["every file to read", () => with_flags(["--allow-read"]), /the whole permission "read"/],
    ["every file to write", () => with_flags(["--allow-write"]), /the whole permission "write"/],
    ["every variable", () => with_flags(["--allow-env"], "--ignore-env"), /the whole permission "env"/],
    ["programs to run", () => with_flags(["--allow-run"]), /the whole permission "run"/],
    ["foreign code", () => with_flags(["--allow-ffi"]), /the whole permission "ffi"/],
    ["the system", () => with_flags(["--allow-sys"]), /the whole permission "sys"/],
    ["the home folders", () => with_flags([`--allow-read=${folder},/home`]), /read permission for \/home/],
    ["NODE_OPTIONS", () => with_env({ NODE_OPTIONS: "--no-warnings" }), /the variable NODE_OPTIONS is set/],
    [
      "SSLKEYLOGFILE",
      () => with_env({ SSLKEYLOGFILE: `${h.folder}/keys` }),
      /the variable SSLKEYLOGFILE is set/,
    ],
  ];
  for (const [what, start, why] of rows) {
    const { code, stdout, stderr } = await endsByItself(start());
    assert.deepEqual([code, stdout], [1, ""], `${what}: ${stderr}`);
    assert.match(stderr, why, what);
    assert.deepEqual([...Deno.readDirSync(folder)], [], what);
  }
});

/** What a process that should not start wrote. One that starts all the same is ended, and its ready line tells of it. */
async function endsByItself(child: Deno.ChildProcess): Promise<Ran> {
  const stderr = new Response(child.stderr).text();
  let stdout = "";
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    stdout += part;
    if (stdout.includes("ready")) child.kill("SIGTERM");
  }
  return { code: (await child.status).code, stdout, stderr: await stderr };
}

/** Whether two flags are of one kind: `--allow-read` and `--allow-read=/x`. */
function sameKind(one: string, other: string): boolean {
  return one.split("=")[0] === other.split("=")[0];
}

Deno.test(
  "a second daemon on the same state or the same socket does not start, and the first goes on",
  SHARED,
  async () => {
    const h = house();
    const folder = await Deno.makeTempDir({ dir: h.folder });
    const other = {
      ...placesIn(folder, { relay_port: 0, profile: "lan" }),
      relay_socket: h.values.relay_socket,
    };
    const rows: [string, typeof other, RegExp][] = [
      ["state", { ...other, daemon_dir: h.values.daemon_dir }, /Another custos daemon is running/],
      ["socket", { ...other, socket: h.values.socket }, /Another daemon listens/],
    ];
    for (const [what, values, why] of rows) {
      const args = daemonArgs(values, h.relay_url);
      const child = launch("daemon", values, { args, stdout: "piped", stderr: "piped" });
      const { code, stdout, stderr } = await endsByItself(child);
      assert.deepEqual([code, stdout], [1, ""], what);
      assert.match(stderr, why, what);
      assert.equal((await h.client.call("daemon.status", {})).devices, 1, what);
    }
    const asked = await h.ask("/second", { agent: "second" });
    await h.approve(asked.id);
  },
);

Deno.test("state and socket are for their owner alone (B173, B174)", SHARED, () => {
  const h = house();
  const mode = (path: string) => (Deno.statSync(path).mode! & 0o777).toString(8);
  assert.equal(mode(h.values.socket.replace(/\/[^/]+$/, "")), "700");
  const walk = (folder: string): string[] => {
    assert.equal(mode(folder), "700", folder);
    return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
      const path = `${folder}/${name}`;
      return isDirectory ? walk(path) : [path];
    });
  };
  for (const folder of [h.values.daemon_dir, h.values.relay_dir]) {
    const files = walk(folder);
    assert.ok(files.some((path) => path.endsWith("-wal")), files.join());
    for (const path of files) assert.equal(mode(path), "600", path);
  }
});

Deno.test("SIGTERM and SIGINT end the daemon cleanly, and SIGUSR1 at once", SHARED, async () => {
  const h = house();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const { code, stderr } = await h.daemon.stop(signal);
    assert.deepEqual([code, stderr], [0, ""], signal);
    assert.throws(() => Deno.statSync(h.values.socket), Deno.errors.NotFound, "the socket is gone");
    const ran = await h.custos("nobody", ["status"]);
    assert.equal(ran.code, 6);
    await h.startDaemon();
  }
  const { code } = await h.daemon.stop("SIGUSR1"); // the runtime would open its inspector
  assert.notEqual(code, 0);
  await h.startDaemon();
  const log = await h.log();
  assert.equal(log.filter(({ event }) => event === "daemon_stopped").length, 2);
  assert.equal(log.filter(({ event }) => event === "daemon_started").length, 4);
  const ran = await h.custos("verify", ["log", "verify"]);
  assert.equal(ran.code, 0, ran.stderr);
});

Deno.test("a caller that was started for one socket cannot open another", SHARED, async () => {
  const h = house();
  const other = `${h.folder}/run/other.sock`;
  const ran = await run("cli", h.values, ["status", "--socket", other]);
  assert.equal(ran.code, 6);
  assert.match(ran.stderr, /may not open the socket/);
});
