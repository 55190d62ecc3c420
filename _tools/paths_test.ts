import assert from "node:assert/strict";
import { MAX_SOCKET_BYTES, type PlaceOptions, places, privateFolder } from "./paths.ts";

function at(env: Record<string, string>, options: PlaceOptions = {}): [string, string] {
  const found = places((name) => env[name], options);
  return [found.daemon_dir, found.socket];
}

Deno.test("places() follows flag, then CUSTOS_STATE, then XDG, then HOME", () => {
  const HOME = "/home/ada";
  const XDG_RUNTIME_DIR = "/run/user/7";
  assert.deepEqual(at({ HOME }), [
    "/home/ada/.local/state/custos/daemon",
    "/home/ada/.local/state/custos/run/custos.sock",
  ]);
  assert.deepEqual(at({ HOME, XDG_STATE_HOME: "/s", XDG_RUNTIME_DIR }), [
    "/s/custos/daemon",
    "/run/user/7/custos/custos.sock",
  ]);
  assert.deepEqual(at({ HOME, XDG_STATE_HOME: "relative" })[0], "/home/ada/.local/state/custos/daemon");
  assert.deepEqual(at({ HOME, CUSTOS_STATE: "" })[0], "/home/ada/.local/state/custos/daemon");
});

Deno.test("places() gives a named state folder sockets of its own (case B191)", () => {
  const env = { HOME: "/h", XDG_RUNTIME_DIR: "/run/user/7", CUSTOS_STATE: "/a" };
  assert.deepEqual(at(env), ["/a/daemon", "/a/run/custos.sock"]);
  assert.deepEqual(at(env, { state: "/b" }), ["/b/daemon", "/b/run/custos.sock"]);
});

Deno.test("places() refuses a socket path that systems cannot hold, and says the limit (case B184)", () => {
  const longest = "/" + "x".repeat(MAX_SOCKET_BYTES - "//run/custos.sock".length);
  assert.equal(at({}, { state: longest })[1].length, MAX_SOCKET_BYTES);
  for (const state of [longest + "x", "/" + "é".repeat(60)]) {
    assert.throws(() => at({}, { state }), {
      name: "RangeError",
      message: new RegExp(String(MAX_SOCKET_BYTES)),
    });
  }
  assert.throws(() => at({}), /HOME is not set/);
});

Deno.test("privateFolder() makes mode 0700 and refuses a folder that is open, a file, a link", async () => {
  const dir = await Deno.makeTempDir();
  privateFolder(`${dir}/a/b`);
  assert.equal(Deno.statSync(`${dir}/a/b`).mode! & 0o777, 0o700);
  privateFolder(`${dir}/a/b`);
  Deno.symlinkSync(`${dir}/a`, `${dir}/link`);
  assert.throws(() => privateFolder(`${dir}/link`), RangeError);
  Deno.chmodSync(`${dir}/a`, 0o750);
  assert.throws(() => privateFolder(`${dir}/a`), /mode 750/);
  Deno.writeTextFileSync(`${dir}/file`, "");
  assert.throws(() => privateFolder(`${dir}/file`));
  await Deno.remove(dir, { recursive: true });
});
