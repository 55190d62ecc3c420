import assert from "node:assert/strict";
import { fixture } from "./fixture.ts";
import { launch } from "./launch.ts";
import { placesIn } from "./paths.ts";
import { flagsOf } from "./permissions.ts";

/** A stand-in for a part: prints its environment, arguments and what it may not do. */
const PROBE = `
const may = async (name: Deno.PermissionName, more = {}) =>
  (await Deno.permissions.query({ name, ...more } as Deno.PermissionDescriptor)).state;
console.log(JSON.stringify({
  args: Deno.args,
  seen: ["HOME", "CUSTOS_AGENT", "SHELL", "NODE_OPTIONS"].filter((name) => Deno.env.get(name) !== undefined),
  run: await may("run"), ffi: await may("ffi"), sys: await may("sys"), net: await may("net"),
  read: await may("read"), write: await may("write", { path: "/tmp" }),
}));
`;

Deno.test("launch() gives a part its flags, a clean environment and its arguments, and records its permissions", async () => {
  const root = await fixture({ "cli/main.ts": PROBE });
  const values = placesIn(`${root}/state`);
  Deno.env.set("NODE_OPTIONS", "--inspect");
  try {
    const child = launch("cli", values, {
      root,
      args: ["status", "--json"],
      env: { CUSTOS_AGENT: "ada" },
      stdout: "piped",
      audit_file: `${root}/audit.jsonl`,
    });
    const { code, stdout } = await child.output();
    assert.equal(code, 0);
    const none = "denied";
    const prompt = "prompt";
    const seen = JSON.parse(new TextDecoder().decode(stdout));
    assert.deepEqual(seen.args, ["status", "--json"]);
    assert.deepEqual(seen.seen, ["HOME", "CUSTOS_AGENT"]);
    for (const kind of ["run", "ffi", "sys", "net", "read", "write"]) {
      assert.ok([none, prompt].includes(seen[kind]), `${kind} is ${seen[kind]}`);
    }
    assert.match(await Deno.readTextFile(`${root}/audit.jsonl`), /"permission":"env","value":"CUSTOS_AGENT"/);
  } finally {
    Deno.env.delete("NODE_OPTIONS");
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("flagsOf() refuses values that a flag cannot hold", () => {
  const good = placesIn("/state");
  assert.equal(flagsOf("cli", good)[0], "--no-prompt");
  assert.throws(() => flagsOf("cli", { ...good, socket: "/a,/etc/custos.sock" }), /has a comma/);
  assert.throws(() => flagsOf("relay", { ...good, relay_dir: "relay" }), /absolute path/);
  assert.throws(() => flagsOf("daemon", { ...good, daemon_dir: "" }), /absolute path/);
});

Deno.test("flagsOf() denies loopback to the daemon under public and not under lan, link-local under both", () => {
  const denied = (profile: "public" | "lan") =>
    flagsOf("daemon", placesIn("/state", { profile })).find((flag) => flag.startsWith("--deny-net="))!;
  for (const address of ["127.0.0.0/8", "10.0.0.0/8", "192.168.0.0/16", "172.16.0.0/12", "[::1]"]) {
    assert.ok(denied("public").includes(address), address);
    assert.ok(!denied("lan").includes(address), address);
  }
  for (const address of ["169.254.0.0/16", "0.0.0.0/8", "100.64.0.0/10", "224.0.0.0/4", "[::]"]) {
    assert.ok(denied("public").includes(address) && denied("lan").includes(address), address);
  }
});
