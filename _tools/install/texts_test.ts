/** The parts of the installer that only make text. */
import assert from "node:assert/strict";
import { ROOT } from "../launch.ts";
import { flagsOf } from "../permissions.ts";
import { jsrLines } from "./jsr_lines.ts";
import { type InstallOptions, readInstallOptions } from "./options.ts";
import { shellWord } from "./quote.ts";
import { COMMANDS, isOurs, shims, valuesOf } from "./shims.ts";
import { chooseDeno, whyItMayGo } from "./stable_deno.ts";
import { units } from "./units.ts";

const env = (name: string) => name === "HOME" ? "/home/kim" : undefined;
const read = (...args: string[]): InstallOptions => readInstallOptions(args, env)!;
const build = { id: "0.1.0-abc", code: "/c", cache: "/k", deno: "/usr/bin/deno" };

Deno.test("readInstallOptions() refuses what it does not understand", () => {
  const rows: [string[], RegExp][] = [
    [["--profile", "open"], /--profile is/],
    [["--relay", "https://relay.test/path"], /--relay is an origin/],
    [["--relay", "unix:/x"], /--relay is an origin/],
    [["--pwa-origin", "custos.test"], /--pwa-origin is an origin/],
    [["--relay-port", "0"], /--relay-port is a number/],
    [["--own-user", "root; x"], /--own-user is/],
    [["--print", "--uninstall"], /exclude each other/],
    [["--sokcet", "x"], /sokcet/],
    [["here"], /./],
  ];
  for (const [args, text] of rows) {
    assert.throws(() => read(...args), (error) => error instanceof RangeError && text.test(error.message));
  }
  assert.throws(() => readInstallOptions([], () => undefined), /HOME is not set/);
  assert.equal(readInstallOptions(["--help"], env), null);
});

Deno.test("shellWord() leaves nothing for a shell to change", () => {
  const rows: [string, string][] = [
    ["/usr/bin/deno", "/usr/bin/deno"],
    ["/a b", "'/a b'"],
    ['$(x)`y`"', "'$(x)`y`\"'"],
    ["it's", "'it'\\''s'"],
    ["", "''"],
    ["[::1]", "'[::1]'"],
  ];
  for (const [text, word] of rows) assert.equal(shellWord(text), word);
  for (const text of ["a\nb", "a\u001b[2J", "\u0000"]) assert.throws(() => shellWord(text), RangeError);
});

Deno.test("shims() gives every part exactly the flags of permissions.ts, and a frozen lock file", () => {
  const options = read("--prefix", "/opt/x");
  for (const [name, text] of shims(options, build)) {
    const part = COMMANDS[name]!;
    const given = [...text.matchAll(/^ {2}"?(--[^ ]+|--[^']+'.*') \\$/gm)].map(([, flag]) =>
      flag!.replaceAll("'", "")
    );
    const declared = flagsOf(part, { ...valuesOf(part, options), verify_host: "HOST" })
      .map((flag) => flag.replace("--allow-net=HOST", '--allow-net=$host"'));
    assert.deepEqual(new Set(given), new Set(["--frozen", "--cached-only", ...declared]), name);
    assert.ok(text.startsWith("#!/bin/sh\n"));
    assert.ok(isOurs(text));
    assert.match(text, /^exec \/usr\/bin\/env -i \\$/m);
    assert.doesNotMatch(text, / -A\b|--allow-all|--allow-run|--allow-ffi|--allow-sys/);
  }
});

Deno.test("shims() gives custos and custos-mcp the door of a daemon with its own user, and the daemon its own socket", () => {
  const scripts = shims(read("--own-user", "custos"), build);
  for (const name of ["custos", "custos-mcp"]) {
    assert.match(scripts.get(name)!, /--allow-net=unix:\/run\/custos-door\/custos\.sock/);
    assert.doesNotMatch(scripts.get(name)!, /\/var\/lib\/custos/);
  }
  assert.match(scripts.get("custos-daemon")!, /--socket \/var\/lib\/custos\/run\/custos\.sock/);
  assert.doesNotMatch(scripts.get("custos-daemon")!, /custos-door/);
});

Deno.test("shims() refuses paths that a flag or env cannot hold", () => {
  assert.throws(() => shims(read("--state", "/a,b"), build), /comma/);
  assert.throws(() => shims(read("--state", "/a\nb"), build), /control character/);
  assert.throws(() => shims(read(), { ...build, deno: "/a=b/deno" }), /has a =/);
});

Deno.test("isOurs() takes only a script with our mark in its second line", () => {
  const mark = "# Made by custos install, build x";
  assert.ok(isOurs(`#!/bin/sh\n${mark}\n`));
  for (const text of ["", "#!/bin/sh\n", mark, `#!/bin/sh\necho\n${mark}`, `#!/bin/sh\n ${mark}`]) {
    assert.ok(!isOurs(text), text);
  }
});

Deno.test("chooseDeno() copies a Deno that may be gone tomorrow, and uses one that stays", () => {
  const goes = [
    "/home/kim/.npm/_npx/0a1b/node_modules/deno/deno",
    "/home/kim/project/node_modules/deno/deno",
    "/tmp/deno",
    "/private/var/folders/x/deno",
  ];
  for (const path of goes) {
    assert.notEqual(whyItMayGo(path), null, path);
    const chosen = chooseDeno("/p/lib/custos", path, "2.9.6", false);
    assert.deepEqual([chosen.path, chosen.copy_from], ["/p/lib/custos/deno-2.9.6/deno", path]);
  }
  for (const path of ["/usr/bin/deno", "/home/kim/.deno/bin/deno", "/usr/lib/node_modules/deno/deno"]) {
    assert.deepEqual(chooseDeno("/p", path, "2.9.6", false).path, path);
    assert.equal(chooseDeno("/p", path, "2.9.6", false).copy_from, null);
    assert.equal(chooseDeno("/p", path, "2.9.6", true).copy_from, path);
  }
});

Deno.test("jsrLines() names an export of each package and the same permissions", () => {
  const lines = jsrLines(read(), ROOT).split("\n").filter((line) => !line.startsWith("#"));
  assert.equal(lines.length, Object.keys(COMMANDS).length);
  for (const line of lines) {
    assert.match(line, /^deno install --global --name custos[a-z-]* .* jsr:@custos\/[a-z]+@[\d.]+\/[a-z]+$/);
  }
  for (const flag of flagsOf("cli", read().values)) assert.ok(lines[0]!.includes(flag), flag);
});

Deno.test("units() starts the installed scripts and gives away what systemd can take", () => {
  const own = units(read("--prefix", "/opt/50% x"));
  assert.match(own, /^ExecStart="\/opt\/50%% x\/bin\/custos-daemon"$/m);
  assert.match(own, /^NoNewPrivileges=yes$/m);
  assert.match(own, /^LimitCORE=0$/m);
  assert.doesNotMatch(own, /^User=/m);
  assert.match(own, /<array><string>\/opt\/50% x\/bin\/custos-daemon<\/string><\/array>/);
  assert.match(
    own,
    /<key>StandardErrorPath<\/key><string>\/home\/kim\/Library\/Logs\/custos-relay\.log<\/string>/,
  );
  const other = units(read("--own-user", "custos"));
  assert.equal(other.match(/^User=custos$/gm)?.length, 4); // relay, pwa, daemon, and what passes callers on
  assert.match(other, /^StateDirectory=custos\nStateDirectoryMode=0700$/m);
  assert.match(other, /^SocketGroup=custos-callers$/m);
  assert.match(other, /socket-proxyd \/var\/lib\/custos\/run\/custos\.sock$/m);
  assert.doesNotMatch(units(read("--relay", "https://relay.test")), /custos-relay\.service/);
});
