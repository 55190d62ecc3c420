/** CASES G at the command line: commands as processes under their real flags. */

import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import { commandLine, launchProgram, ROOT } from "@custos/tools/launch";
import { placesIn } from "@custos/tools/paths";
import { COMMANDS } from "../../cli/commands.ts";
import { fakeDaemon } from "../../cli/testing/fake_daemon.ts";
import { custos as custosIn } from "../../cli/testing/fake_io.ts";
import { custos } from "../e2e/harness_process.ts";
import { SHARED, shareHouse } from "../e2e/harness.ts";

const house = shareHouse();

/** Starts `custos` with a terminal on all three streams; what it draws comes out, what is written is typed. */
function atTerminal(socket: string, args: string[]): Deno.ChildProcess {
  const values = { ...placesIn(socket.slice(0, socket.lastIndexOf("/"))), socket };
  const words = [Deno.execPath(), ...commandLine("cli", values, ["--socket", socket, ...args])];
  const line = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const cache = Deno.env.get("DENO_DIR");
  const child = launchProgram("script", {
    args: Deno.build.os === "darwin"
      ? ["-q", "/dev/null", "sh", "-c", line]
      : ["--quiet", "--return", "--command", line, "/dev/null"],
    cwd: ROOT,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    env: { ...(cache === undefined ? {} : { DENO_DIR: cache }), SHELL: "/bin/sh", TERM: "xterm" },
  });
  if (child === null) {
    throw new Error("The program `script` is needed for this test, and may not be run here.");
  }
  return child;
}

Deno.test(
  "custos watch takes a real terminal under its own flags, and gives it back at q (B103)",
  SHARED,
  async () => {
    const h = house();
    const { id } = await h.ask("/watched", {
      agent: "watch",
      reason: "ok\u001b[2J\u001b]52;c;ZXZpbA==\u0007\u009b31m",
    });
    const child = atTerminal(h.values.socket, ["watch"]);
    const keys = child.stdin.getWriter();
    let drawn = "";
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    while (!drawn.includes("q quits")) {
      const { value, done } = await reader.read();
      assert.ok(!done, drawn);
      drawn += value;
    }
    await keys.write(new TextEncoder().encode("q"));
    for (let part = await reader.read(); !part.done; part = await reader.read()) drawn += part.value;
    await keys.close().catch(() => {});
    const [{ code }] = await Promise.all([child.status, child.stderr.cancel()]);
    assert.equal(code, 0, drawn);
    assert.ok(drawn.startsWith("\x1b[?1049h"), "the alternate screen");
    assert.ok(drawn.trimEnd().endsWith("\x1b[?1049l"), "and the one before it again");
    assert.ok(drawn.includes("ok\\u{1b}[2J\\u{1b}]52;c;ZXZpbA=="), "the reason, made visible");
    for (const code of ["\x1b]52", "\u009b"]) assert.ok(!drawn.includes(code));
    await h.client.call("access.withdraw", { request_id: id });
  },
);

Deno.test("a wait at a terminal counts down under the words, and the answer takes its line", async () => {
  const request_id = newId();
  const status = (state: "pending" | "denied") => ({
    request_id,
    fingerprint: "rocket velvet oasis",
    type: "access" as const,
    status: state,
    expires_ms: 1_900_000_000_000,
    delivery: "sent" as const,
  });
  await using daemon = await fakeDaemon({
    "access.status": async ({ wait_ms }) => {
      if (wait_ms === 0) return status("pending");
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      return status("denied");
    },
  });
  const child = atTerminal(daemon.socket, ["wait", request_id, "--wait", "60"]);
  const [{ code }, drawn] = await Promise.all([
    child.status,
    new Response(child.stdout).text(),
    child.stderr.cancel(),
  ]);
  await child.stdin.close().catch(() => {});
  assert.equal(code, 4, drawn);
  assert.match(
    drawn,
    /fingerprint: rocket velvet oasis\r\n\rWaiting for the phone, 1:00 left\. Ctrl-C ends the wait/,
  );
  assert.match(drawn, /0:59 left/);
  assert.ok(drawn.endsWith("\r\x1b[Kdenied\r\n"), JSON.stringify(drawn));
});

Deno.test("every command ends by itself where nobody can be asked, without colours and permission prompts (B109)", async () => {
  await using daemon = await fakeDaemon({});
  const values = {
    ...placesIn(daemon.socket.slice(0, daemon.socket.lastIndexOf("/"))),
    socket: daemon.socket,
  };
  const rows: [string[], number, RegExp][] = [
    [["pair"], 2, /stdin is closed/],
    [["policy", "confirm"], 2, /./],
    [["watch"], 2, /needs a terminal.*--once/],
  ];
  for (const [args, code, says] of rows) {
    for (const env of [{}, { CI: "1" }, { TERM: "dumb" }] as Record<string, string>[]) {
      const ran = await custos(values, "nobody", args, { env });
      assert.equal(ran.code, code, `${args}: ${ran.stderr}`);
      assert.match(ran.stderr, says);
      for (const text of [ran.stdout, ran.stderr]) assert.ok(!text.includes("\x1b"), text);
      assert.doesNotMatch(ran.stderr, /requests? (read|write|net|env) access|Allow\?|NotCapable/);
    }
  }
});

Deno.test("no command takes a secret as an argument, and none repeats one that was put there (B108)", async () => {
  const value = "tok_live_4f9c2a7e";
  const rows = [
    ["drop", "demo-key", value, "--reason", "x"],
    ["drop", "demo-key", `--value=${value}`, "--reason", "x"],
    ["drop", "demo-key", "--value", value],
    ["http", "--handle", "demo-key", "-H", value, "https://x.test/"],
    ["secret", "add", "demo-key", value],
  ];
  for (const args of rows) {
    const ran = await custosIn("/nonexistent/custos.sock", args);
    assert.equal(ran.code, 2, args.join(" "));
    for (const text of [ran.out, ran.err, ran.tty]) assert.ok(!text.includes(value), text);
  }
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    const options = Object.keys((await load()).command.options);
    assert.ok(!options.some((option) => /^(value|secret|token|key|password)$/.test(option)), name);
  }
});

Deno.test(
  "custos says what became of a request, and never that something will be sent (B111)",
  SHARED,
  async () => {
    const h = house();
    const gone = await h.custos("gone", ["http", "--wait", "0", `${h.api.origin}/gone`]);
    assert.equal(gone.code, 3);
    assert.match(gone.stderr, /Nothing was sent/);
    const { message: { doc } } = await h.cardFor("/gone");
    await h.approve(doc.id);
    const after = await h.custos("gone", ["wait", doc.id, "--wait", "0"]);
    assert.deepEqual(
      [after.code, h.api.count("/gone")],
      [0, 0],
      "approved, and the caller had left: it was not sent",
    );
    assert.match(after.stdout, /once/);
    assert.doesNotMatch(gone.stdout + gone.stderr + after.stdout + after.stderr, /will (be|run|complete)/);

    const asked = await h.ask("/withdrawn", { agent: "gone" });
    await h.restartDaemon();
    const over = await h.custos("gone", ["wait", asked.id, "--wait", "0"]);
    assert.equal(over.code, 4);
    assert.match(over.stdout, /withdrawn \(daemon (stopped|restarted)\)/);
    await h.phone.sync(5_000);
    const late = await h.phone.approve(asked.id).catch((error: Error) => error.message);
    assert.notEqual(typeof late === "string" ? late : late.status, "granted");
    assert.equal(h.api.count("/withdrawn"), 0);
  },
);
