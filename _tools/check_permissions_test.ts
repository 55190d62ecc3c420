import assert from "node:assert/strict";
import { checkPermissions, permissionFiles, wideFlags } from "./check_permissions.ts";
import { findingsIn } from "./fixture.ts";
import { PARTS } from "./permissions.ts";
import { TASKS } from "./tasks.ts";

async function files(): Promise<Record<string, string>> {
  const modules = Object.values(PARTS).map((part) => [part.module, ""]);
  return {
    ...Object.fromEntries([...await permissionFiles(), ...modules]),
    "deno.json": JSON.stringify({ tasks: TASKS }),
  };
}

Deno.test("checkPermissions() passes what was made from the data", async () => {
  assert.deepEqual(await findingsIn(await files(), checkPermissions), []);
});

Deno.test("checkPermissions() finds a document, a list or a task that says something else", async () => {
  const good = await files();
  const found = async (change: Record<string, string>) =>
    (await findingsIn({ ...good, ...change }, checkPermissions)).join("\n");
  assert.match(
    await found({ "docs/permissions.md": good["docs/permissions.md"] + "x" }),
    /docs\/permissions\.md differs/,
  );
  const flags = good["_tools/golden/cli.flags.txt"]!;
  assert.match(
    await found({ "_tools/golden/cli.flags.txt": flags.replace("--no-prompt\n", "--allow-net\n") }),
    /cli\.flags\.txt differs:\n {2}- --allow-net\n {2}\+ --no-prompt/,
  );
  const wide = { tasks: { ...TASKS, demo: "deno run -A tests/demo/main.ts", extra: "x" } };
  assert.match(
    await found({ "deno.json": JSON.stringify(wide) }),
    /task demo must be[\s\S]*task extra is not in/,
  );
});

Deno.test("wideFlags() refuses what no part may have, whatever the data says", () => {
  const wrong = (name: string, ...flags: string[]) =>
    wideFlags(new Map([[name, ["--no-prompt", ...flags].join("\n") + "\n"]]));
  assert.deepEqual(wrong("cli.flags.txt", "--allow-read=/x", "--allow-env=HOME"), []);
  assert.deepEqual(wrong("daemon.lan.flags.txt", "--allow-net", "--deny-net=0.0.0.0/8"), []);
  for (
    const flag of [
      "-A",
      "--allow-all",
      "--allow-run",
      "--allow-run=deno",
      "--allow-ffi",
      "--allow-sys=hostname",
    ]
  ) {
    assert.equal(wrong("daemon.lan.flags.txt", flag).length, 1, flag);
  }
  for (const flag of ["--allow-read", "--allow-write", "--allow-env"]) {
    assert.equal(wrong("relay.flags.txt", flag).length, 1, flag);
  }
  assert.equal(wrong("daemon.lan.flags.txt", "--allow-net").length, 1, "a bare net without a deny list");
  assert.equal(
    wrong("relay.flags.txt", "--allow-net", "--deny-net=0.0.0.0/8").length,
    1,
    "a bare net of another part",
  );
  assert.equal(wideFlags(new Map([["cli.flags.txt", "--allow-read=/x\n"]])).length, 1, "prompts");
});
