/** Installs for real into a folder of its own, runs the scripts, and takes all away again. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { launchProgram, ROOT } from "../launch.ts";
import { MAX_SOCKET_BYTES } from "../paths.ts";
import { readyLine } from "../ready.ts";
import { install, type InstallIo } from "./install.ts";
import { COMMANDS } from "./shims.ts";

/** A home folder with a blank, a quote and a dollar in its path. */
let home = "";
let prefix = "";
/** Nobody else's, so that two test runs on one machine do not meet. */
let ports: string[] = [];

Deno.test.beforeAll(async () => {
  home = join(await Deno.makeTempDir({ prefix: "custos-i-" }), "it's $HOME");
  prefix = join(home, ".local");
  await Deno.mkdir(home);
  ports = [`--relay-port=${freePort()}`, `--pwa-port=${freePort()}`];
  const { code, err } = await installer(["--yes"]);
  assert.equal(code, 0, err);
});

Deno.test.afterAll(async () => {
  await Deno.remove(join(home, ".."), { recursive: true });
});

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

interface Said {
  code: number;
  out: string;
  err: string;
}

async function installer(
  args: string[],
  change: Partial<InstallIo> = {},
  root: string = ROOT,
): Promise<Said> {
  const said = { out: "", err: "" };
  const io: InstallIo = {
    say: (text) => said.out += `${text}\n`,
    complain: (text) => said.err += `${text}\n`,
    confirm: () => null,
    env: (name) => name === "HOME" ? home : undefined,
    ...change,
  };
  return { code: await install([...ports, ...args], io, root), ...said };
}

/** Starts an installed script as a service manager would: no environment, in `/`, without a terminal. */
function start(name: string, args: string[] = [], stdin: "null" | "piped" = "null"): Deno.ChildProcess {
  const child = launchProgram("bash", {
    args: [
      "-c",
      'exec /usr/bin/env -i HOME="$1" LC_ALL=C "$0" "${@:2}"',
      join(prefix, "bin", name),
      home,
      ...args,
    ],
    cwd: "/",
    stdin,
    stdout: "piped",
    stderr: "piped",
  });
  if (child === null) throw new Error("The program `bash` is needed for this test, and may not be run here.");
  return child;
}

async function ended(child: Deno.ChildProcess): Promise<Said> {
  const { code, stdout, stderr } = await child.output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

async function stop(child: Deno.ChildProcess): Promise<number> {
  child.kill("SIGTERM");
  const [{ code }] = await Promise.all([child.status, new Response(child.stderr).text()]);
  return code;
}

/** Relay and daemon from their scripts, for the time of `use`. */
async function running(use: () => Promise<void>): Promise<void> {
  const relay = start("custos-relay", ["--json"]);
  const daemon = start("custos-daemon", ["--json"]);
  try {
    await readyLine(relay, "relay");
    await readyLine(daemon, "daemon");
    await use();
  } finally {
    assert.equal(await stop(daemon), 0);
    assert.equal(await stop(relay), 0);
  }
}

const files = (folder: string): string[] => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test("install() puts scripts in place that run without an environment, in a path with blanks (B179, B188, B190)", async () => {
  await running(async () => {
    const status = await ended(start("custos", ["status", "--json"]));
    assert.equal(status.code, 0, status.err);
    assert.equal(JSON.parse(status.out).state_dir, join(home, ".local/state/custos/daemon"));
    const mcp = start("custos-mcp", [], "piped");
    const writer = mcp.stdin.getWriter();
    const call = (id: number, method: string, params: object) =>
      writer.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`));
    await call(0, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "install", version: "1" },
    });
    await call(1, "tools/list", {});
    await writer.close();
    const answers = (await ended(mcp)).out.trim().split("\n").map((line) => JSON.parse(line));
    assert.equal(answers[1].result.tools.length, 4);
  });
  for (const name of Object.keys(COMMANDS)) {
    const help = await ended(start(name, ["--help"]));
    assert.equal(help.code, 0, `${name}: ${help.err}`);
    assert.match(help.out, /custos/, name);
    assert.equal(help.err, "", name);
  }
});

Deno.test("install() puts a phone app in place that custos-verify-pwa finds to be the same", async () => {
  const server = start("custos-pwa", ["--json"]);
  try {
    const { listen } = await readyLine(server, "phone app");
    const origin = `http://localhost:${String((listen as string[])[0]).split(":").at(-1)}`;
    const same = await ended(start("custos-verify-pwa", [origin, "--json"]));
    assert.equal(JSON.parse(same.out).same, true, same.out + same.err);
    assert.equal(same.code, 0);
  } finally {
    assert.equal(await stop(server), 0);
  }
  const rows = ["http://$(touch /tmp/x)", "http://a,b", "http://localhost:1/$HOME", "ftp://x"];
  for (const odd of rows) assert.notEqual((await ended(start("custos-verify-pwa", [odd]))).code, 0, odd);
});

Deno.test("install() makes state folders 0700 and files 0600, whatever the umask (B173)", async () => {
  await running(() => Promise.resolve());
  const state = join(home, ".local/state/custos");
  const open: string[] = [];
  const visit = (path: string) => {
    const info = Deno.lstatSync(path);
    if (((info.mode ?? 0) & 0o077) !== 0) open.push(path);
    if (info.isDirectory) { for (const { name } of Deno.readDirSync(path)) visit(join(path, name)); }
  };
  for (const { name } of Deno.readDirSync(state)) visit(join(state, name));
  assert.deepEqual(open, []);
});

Deno.test("install() changes nothing the second time, and makes the same build from its own copy", async () => {
  const before = Deno.statSync(join(prefix, "bin/custos")).mtime;
  const [build] = files(join(prefix, "lib/custos"));
  const { code, out } = await installer(["--yes"], {}, join(prefix, "lib/custos", build!, "code"));
  assert.equal(code, 0);
  assert.match(out, /installed there already\. Nothing was changed/);
  assert.deepEqual(Deno.statSync(join(prefix, "bin/custos")).mtime, before);
});

Deno.test("install() with --print shows every script and writes nothing", async () => {
  const { code, out } = await installer(["--print", "--prefix", join(home, "other")]);
  assert.equal(code, 0);
  for (const name of Object.keys(COMMANDS)) {
    assert.ok(out.includes(`${join(home, "other/bin", name)}\n`), name);
  }
  assert.match(out, /--deny-net=/);
  assert.throws(() => Deno.lstatSync(join(home, "other")), Deno.errors.NotFound);
});

Deno.test("install() asks before it writes, and refuses where nobody can be asked (B109)", async () => {
  const other = ["--prefix", join(home, "asked")];
  const rows: [boolean | null, number, RegExp][] = [[null, 1, /no terminal.*--yes/], [false, 1, /^$/]];
  for (const [answer, code, err] of rows) {
    const said = await installer(other, { confirm: () => answer });
    assert.equal(said.code, code);
    assert.match(said.err, err);
    assert.throws(() => Deno.lstatSync(join(home, "asked")), Deno.errors.NotFound);
  }
});

Deno.test("install() never writes over a file or a link that is not its own", async () => {
  const other = join(home, "foreign");
  await Deno.mkdir(join(other, "bin"), { recursive: true });
  const script = join(other, "bin/custos");
  const rows: [string, () => void][] = [
    ["a file", () => Deno.writeTextFileSync(script, "#!/bin/sh\necho mine\n")],
    ["a link to one of ours", () => Deno.symlinkSync(join(prefix, "bin/custos"), script)],
    ["a folder", () => Deno.mkdirSync(script)],
  ];
  for (const [what, make] of rows) {
    make();
    const { code, err } = await installer(["--yes", "--prefix", other]);
    assert.equal(code, 1, what);
    assert.ok(err.includes(script), what);
    assert.deepEqual(files(join(other, "bin")), ["custos"], what);
    assert.deepEqual(files(other), ["bin"], what);
    Deno.removeSync(script);
  }
});

Deno.test("install() upgrades in place, keeps the build before, and finds the data again", async () => {
  const checkout = join(home, "next");
  const [old] = files(join(prefix, "lib/custos")).filter((name) => /^\d/.test(name));
  await copyTree(join(prefix, "lib/custos", old!, "code"), checkout);
  const config = join(checkout, "cli/deno.json");
  Deno.writeTextFileSync(
    config,
    Deno.readTextFileSync(config).replace('"version": "0.1.0"', '"version": "0.1.1"'),
  );
  const { code, out } = await installer(["--yes"], {}, checkout);
  assert.equal(code, 0);
  assert.match(out, /Replaced 0\.1\.0-\w+ by custos 0\.1\.1-/);
  assert.equal((await ended(start("custos", ["--version"]))).out, "custos 0.1.1\n");
  const builds = files(join(prefix, "lib/custos")).filter((name) => /^\d/.test(name));
  assert.equal(builds.length, 2);
  assert.ok(builds.includes(old!), "a daemon that still runs may load from it");
  await running(async () => {
    const log = JSON.parse((await ended(start("custos", ["status", "--json"]))).out).audit;
    assert.ok(log.size > 1, "the log of the daemon before is still there");
  });
});

Deno.test("install() with --uninstall removes its own files, keeps the data and what is not its own (B192)", async () => {
  await running(async () => {
    const { code, err } = await installer(["--uninstall", "--yes"]);
    assert.equal(code, 1);
    assert.match(err, /a daemon answers on .*\n.*systemctl --user disable --now custos-daemon/);
    assert.ok(files(join(prefix, "bin")).includes("custos"));
  });
  const unit = join(home, ".config/systemd/user/custos-daemon.service");
  Deno.mkdirSync(join(unit, ".."), { recursive: true });
  Deno.writeTextFileSync(unit, `[Service]\nExecStart="${join(prefix, "bin/custos-daemon")}"\n`);
  const served = await installer(["--uninstall", "--yes"]);
  assert.deepEqual([served.code, files(join(prefix, "bin")).length], [1, Object.keys(COMMANDS).length]);
  assert.ok(served.err.includes(unit), "a service that would be started again and again");
  Deno.removeSync(unit);
  const state = join(home, ".local/state/custos");
  const kept = files(join(state, "daemon"));
  Deno.writeTextFileSync(join(prefix, "bin/custos-mcp"), "#!/bin/sh\necho mine\n");
  const { code, out, err } = await installer(["--uninstall", "--yes"]);
  assert.equal(code, 0, err);
  assert.ok(out.includes(`still in ${state}`));
  assert.match(err, /custos-mcp is not from custos any more and stays/);
  assert.deepEqual(files(join(prefix, "bin")), ["custos-mcp"]);
  assert.throws(() => Deno.lstatSync(join(prefix, "lib/custos")), Deno.errors.NotFound);
  assert.deepEqual(files(join(state, "daemon")), kept);
  const again = await installer(["--uninstall", "--yes"]);
  assert.equal(again.code, 0);
  assert.match(again.out, /is not installed/);
});

Deno.test("install() refuses a socket path that systems do not allow (B184)", async () => {
  const deep = `/${"d".repeat(MAX_SOCKET_BYTES)}`;
  await assert.rejects(installer(["--print", "--state", deep]), /systems allow 103/);
});

async function copyTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for (const entry of Deno.readDirSync(from)) {
    if (entry.isDirectory) await copyTree(join(from, entry.name), join(to, entry.name));
    else await Deno.copyFile(join(from, entry.name), join(to, entry.name));
  }
}
