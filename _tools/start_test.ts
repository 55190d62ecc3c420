import assert from "node:assert/strict";
import { join } from "node:path";
import { runDeno } from "./launch.ts";
import { readyLine } from "./ready.ts";
import { parseStart } from "./start_options.ts";

const RELAY = `
const at = Deno.args.indexOf("--listen");
const [hostname, port] = Deno.args[at + 1].split(":");
const server = Deno.serve({ hostname, port: Number(port), onListen() {} }, () => new Response("relay"));
console.log(JSON.stringify({ ready: true, listen: [hostname + ":" + server.addr.port, "unix:/somewhere"] }));
Deno.addSignalListener("SIGTERM", () => Deno.exit(0));
`;

/** Says that it is ready, and waits. */
const PWA = `
console.log(JSON.stringify({ ready: true, listen: [] }));
setInterval(() => {}, 1000);
Deno.addSignalListener("SIGTERM", () => Deno.exit(0));
`;

/** Writes its arguments beside its state, and waits. */
const DAEMON = `
const dir = Deno.args[Deno.args.indexOf("--state") + 1];
Deno.writeTextFileSync(dir + "/args.json", JSON.stringify(Deno.args));
console.log("a line before the ready line");
console.log(JSON.stringify({ ready: true, socket: "s", pid: Deno.pid }));
setInterval(() => {}, 1000);
Deno.addSignalListener("SIGTERM", () => Deno.exit(0));
`;

const BROKEN = `console.error("the daemon cannot"); Deno.exit(5);`;

/** A checkout with stand-ins for relay and daemon, and a program that calls start() on it. */
async function checkout(
  daemon: string,
  pwa = PWA,
): Promise<{ dir: string; run: (args: string[]) => Deno.ChildProcess }> {
  const dir = await Deno.makeTempDir();
  for (const folder of ["relay", "daemon", "pwa"]) await Deno.mkdir(join(dir, folder));
  await Deno.writeTextFile(join(dir, "deno.json"), `{"lock": false}`);
  await Deno.writeTextFile(join(dir, "relay/main.ts"), RELAY);
  await Deno.writeTextFile(join(dir, "daemon/main.ts"), daemon);
  await Deno.writeTextFile(join(dir, "pwa/serve.ts"), pwa);
  const start = new URL("start.ts", import.meta.url).href;
  await Deno.writeTextFile(
    join(dir, "main.ts"),
    `import { start } from "${start}"; Deno.exit(await start(Deno.args, "${dir}"));`,
  );
  const flags = ["--no-prompt", "--allow-read", "--allow-write", "--allow-env", "--allow-run=deno"];
  const run = (args: string[]) =>
    runDeno([
      "run",
      ...flags,
      join(dir, "main.ts"),
      "--state",
      join(dir, "state"),
      "--relay-port",
      "0",
      ...args,
    ], {
      stdout: "piped",
      stderr: "piped",
    });
  return { dir, run };
}

Deno.test("start() says on one line when all parts are ready, and ends them on SIGTERM with code 0", async () => {
  const { dir, run } = await checkout(DAEMON);
  const child = run(["--json", "--profile", "lan"]);
  const errors = new Response(child.stderr).text();
  const ready = await readyLine(child, "start");
  assert.equal(ready.pid, child.pid);
  assert.equal(ready.pwa, "http://localhost:8788");
  assert.equal(ready.socket, join(dir, "state/run/custos.sock"));
  const relay = String(ready.relay);
  assert.match(relay, /^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  assert.equal(await (await fetch(relay)).text(), "relay");

  const args = JSON.parse(await Deno.readTextFile(join(dir, "state/daemon/args.json"))) as string[];
  const value = (name: string) => args[args.indexOf(name) + 1];
  assert.equal(value("--relay"), `unix:${join(dir, "state/run/relay.sock")}`);
  assert.equal(value("--relay-url"), relay);
  assert.equal(value("--profile"), "lan");
  assert.equal((await Deno.stat(join(dir, "state"))).mode! & 0o777, 0o700);

  child.kill("SIGTERM");
  assert.deepEqual({ code: (await child.status).code, errors: await errors }, { code: 0, errors: "" });
  await assert.rejects(fetch(relay), "the relay still answers after the end");
  await Deno.remove(dir, { recursive: true });
});

Deno.test("start() ends the relay and exits 1 where the daemon cannot start", async () => {
  const { dir, run } = await checkout(BROKEN);
  const { code, stdout, stderr } = await run(["--json"]).output();
  assert.equal(code, 1);
  assert.equal(new TextDecoder().decode(stdout), "");
  assert.match(
    new TextDecoder().decode(stderr),
    /the daemon cannot\n.*daemon ended with code 5 before it was ready/s,
  );
  await Deno.remove(dir, { recursive: true });
});

Deno.test("start() tells page, relay and daemon the same addresses, and serves no page where it is told so", async () => {
  // Stands in for the page's server: it fails with what it was told.
  const { dir, run } = await checkout(DAEMON, `console.error(JSON.stringify(Deno.args)); Deno.exit(7);`);
  const urls = [
    "--relay-url",
    "https://r.example",
    "--pwa-origin",
    "https://p.example",
    "--pwa-port",
    "5000",
  ];
  const told = await run(urls).output();
  assert.equal(told.code, 1);
  assert.match(
    new TextDecoder().decode(told.stderr),
    /\["--listen","localhost:5000","--relay","https:\/\/r\.example","--json"\]/,
  );
  const child = run(["--no-pwa", "--json", ...urls.slice(0, 4)]);
  const errors = new Response(child.stderr).text();
  const ready = await readyLine(child, "start");
  assert.deepEqual([ready.relay, ready.pwa], ["https://r.example", null]);
  const args = JSON.parse(await Deno.readTextFile(join(dir, "state/daemon/args.json"))) as string[];
  assert.equal(args[args.indexOf("--relay-url") + 1], "https://r.example");
  assert.equal(args[args.indexOf("--pwa-origin") + 1], "https://p.example");
  child.kill("SIGTERM");
  assert.deepEqual({ code: (await child.status).code, errors: await errors }, { code: 0, errors: "" });
  await Deno.remove(dir, { recursive: true });
});

const WRONG: [string[], RegExp][] = [
  [["--pwa-port", "0"], /--pwa-port is a number from 1/],
  [["--pwa-port", "65536"], /--pwa-port is a number/],
  [["--pwa-origin", "https://p.example/"], /--pwa-origin is an origin/],
  [["--relay-url", "ftp://p.example"], /--relay-url is an origin/],
  [["--profile", "wide"], /--profile is/],
  [["--unknown"], /--unknown/],
];
for (const [args, reason] of WRONG) {
  Deno.test(`parseStart() refuses ${args.join(" ")} and says what to do`, () => {
    assert.throws(() => parseStart(["--state", "/tmp/custos-test", ...args]), (error: Error) => {
      assert.ok(error instanceof RangeError);
      assert.match(error.message, reason);
      return true;
    });
  });
}

Deno.test("start() refuses a state folder that others can read", async () => {
  const { dir, run } = await checkout(DAEMON);
  await Deno.mkdir(join(dir, "state"));
  await Deno.chmod(join(dir, "state"), 0o755);
  const { code, stderr } = await run([]).output();
  assert.notEqual(code, 0);
  assert.match(new TextDecoder().decode(stderr), /open to others \(mode 755\)/);
  await Deno.remove(dir, { recursive: true });
});
