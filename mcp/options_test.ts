import assert from "node:assert/strict";
import { CustosError } from "@custos/core/errors";
import { HELP, readOptions, socketPath } from "./options.ts";

const env = (values: Record<string, string>) => (name: string) => values[name];

Deno.test("socketPath() follows the daemon's rule: named, beside a named state, runtime folder, default state", () => {
  const rows: [Record<string, string>, string][] = [
    [{ CUSTOS_SOCKET: "/a/s", CUSTOS_STATE: "/b", XDG_RUNTIME_DIR: "/run/u", HOME: "/h" }, "/a/s"],
    [{ CUSTOS_STATE: "/b", XDG_RUNTIME_DIR: "/run/u", HOME: "/h" }, "/b/run/custos.sock"],
    [{ XDG_RUNTIME_DIR: "/run/u", XDG_STATE_HOME: "/s", HOME: "/h" }, "/run/u/custos/custos.sock"],
    [{ XDG_STATE_HOME: "/s", HOME: "/h" }, "/s/custos/run/custos.sock"],
    [{ HOME: "/h" }, "/h/.local/state/custos/run/custos.sock"],
    [
      { CUSTOS_SOCKET: "", XDG_RUNTIME_DIR: "", XDG_STATE_HOME: "", HOME: "/h" },
      "/h/.local/state/custos/run/custos.sock",
    ],
    [
      { XDG_RUNTIME_DIR: "run", XDG_STATE_HOME: "state", HOME: "/h" },
      "/h/.local/state/custos/run/custos.sock",
    ],
  ];
  for (const [values, path] of rows) assert.equal(socketPath(env(values)), path);
  assert.throws(() => socketPath(env({})), CustosError);
});

Deno.test("readOptions() takes --agent and --socket in both spellings, before the environment", () => {
  const values = env({ CUSTOS_AGENT: "from env", CUSTOS_SOCKET: "/env/s" });
  const rows: [string[], string | null, string][] = [
    [[], "from env", "/env/s"],
    [["--agent", "a b", "--socket", "/x"], "a b", "/x"],
    [["--agent=a=b", "--socket=/x"], "a=b", "/x"],
  ];
  for (const [args, agent, socket] of rows) {
    assert.deepEqual(readOptions(args, values), { agent, socket, help: false });
  }
  assert.equal(readOptions([], env({ CUSTOS_SOCKET: "/s" })).agent, null);
});

Deno.test("readOptions() refuses what it does not know, and names that nobody could read", () => {
  const values = env({ CUSTOS_SOCKET: "/s" });
  for (
    const args of [
      ["--sokcet", "/x"],
      ["x"],
      ["--agent"],
      ["--agent", " "],
      ["--agent="],
      ["--agent", "\u200b"],
      ["--agent", "x".repeat(65)],
    ]
  ) {
    assert.throws(
      () => readOptions(args, values),
      (error: unknown) =>
        error instanceof CustosError && error.kind === "bad_request" && /--help/.test(error.message),
    );
  }
});

Deno.test("readOptions() shows the help although nothing else fits", () => {
  assert.equal(readOptions(["--help"], env({})).help, true);
  for (const name of ["--agent", "--socket", "CUSTOS_SOCKET", "CUSTOS_AGENT"]) assert.ok(HELP.includes(name));
});
