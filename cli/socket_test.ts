import assert from "node:assert/strict";
import { CustosError } from "@custos/core/errors";
import { socketPath } from "./socket.ts";

Deno.test("socketPath() lets a flag win over the environment, and the nearest variable over the others (B191)", () => {
  const all: Record<string, string> = {
    CUSTOS_SOCKET: "/a/s",
    CUSTOS_STATE: "/b",
    XDG_RUNTIME_DIR: "/c",
    XDG_STATE_HOME: "/d",
    HOME: "/e",
  };
  const order: [string, string][] = [
    ["CUSTOS_SOCKET", "/a/s"],
    ["CUSTOS_STATE", "/b/run/custos.sock"],
    ["XDG_RUNTIME_DIR", "/c/custos/custos.sock"],
    ["XDG_STATE_HOME", "/d/custos/run/custos.sock"],
    ["HOME", "/e/.local/state/custos/run/custos.sock"],
  ];
  assert.equal(socketPath("/flag", (name) => all[name]), "/flag");
  for (const [name, path] of order) {
    assert.equal(socketPath(undefined, (wanted) => all[wanted]), path);
    delete all[name];
  }
  assert.throws(() => socketPath(undefined, () => undefined), CustosError);
});

Deno.test("socketPath() refuses relative paths that are named, and passes over empty or relative XDG variables", () => {
  assert.throws(() => socketPath("run/s", () => undefined), CustosError);
  assert.throws(
    () => socketPath(undefined, (name) => name === "CUSTOS_SOCKET" ? "s" : undefined),
    CustosError,
  );
  const env: Record<string, string> = {
    CUSTOS_SOCKET: "",
    XDG_RUNTIME_DIR: "run",
    XDG_STATE_HOME: "",
    HOME: "/h",
  };
  assert.equal(socketPath(undefined, (name) => env[name]), "/h/.local/state/custos/run/custos.sock");
});
