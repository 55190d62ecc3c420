import assert from "node:assert/strict";
import { CustosError } from "@custos/core/errors";
import { readArgs, toHandle, waitMs, wholeNumber } from "./args.ts";
import type { Command } from "./command.ts";

const command: Command = {
  name: "try",
  usage: "[options] NAME",
  about: "",
  options: {
    data: { type: "string", short: "d", help: "" },
    header: { type: "string", short: "H", list: true, help: "" },
    include: { type: "boolean", short: "i", help: "" },
    fail: { type: "boolean", short: "f", help: "" },
    wait: { type: "string", help: "" },
  },
  positionals: [1, 1],
  hint: "try takes one name.",
  examples: [],
  run: () => Promise.resolve(0),
};

const refused = (text: RegExp) => (error: unknown) =>
  error instanceof CustosError && error.kind === "bad_request" && text.test(error.message);

Deno.test("readArgs() reads every spelling of an option", () => {
  for (
    const args of [["-d", "x", "n"], ["-dx", "n"], ["--data", "x", "n"], ["--data=x", "n"], ["n", "-idx"]]
  ) {
    const given = readArgs(command, args);
    assert.equal(given.one("data"), "x", args.join(" "));
    assert.deepEqual(given.positionals, ["n"]);
  }
  const given = readArgs(command, ["-if", "-H", "a: b", "-Hc: d", "--data=", "--", "-f"]);
  assert.deepEqual([given.has("include"), given.has("fail"), given.has("json")], [true, true, false]);
  assert.deepEqual(given.all("header"), ["a: b", "c: d"]);
  assert.equal(given.one("data"), "");
  assert.deepEqual(given.positionals, ["-f"]);
  assert.equal(readArgs(command, ["n", "--data=-5"]).one("data"), "-5");
  assert.deepEqual(readArgs(command, ["-"]).positionals, ["-"]);
});

Deno.test("readArgs() refuses what it does not know, and repeats no value (B108)", () => {
  const rows: [string[], RegExp][] = [
    [[], /Usage: custos try \[options\] NAME/],
    [["a", "tok_live_4f9c2a7e"], /takes one name/],
    [["a", "--value=tok_live_4f9c2a7e"], /no option --value\./],
    [["a", "--constructor"], /no option --constructor/],
    [["a", "-x"], /no option -x/],
    [["a", "-ix"], /no option -x/],
    [["a", "-d"], /needs a value/],
    [["a", "--wait"], /needs a value/],
    [["a", "--data", "--json"], /needs a value/],
    [["a", "-d", "x", "-d", "tok_live_4f9c2a7e"], /once/],
    [["a", "--include=tok_live_4f9c2a7e"], /takes no value/],
    [["a", "--\u001b[2J"], /no option --\\u\{1b\}\[2J/],
  ];
  for (const [args, text] of rows) {
    assert.throws(
      () => readArgs(command, args),
      (error) => refused(text)(error) && !(error as Error).message.includes("tok_live"),
      args.join(" "),
    );
  }
});

Deno.test("readArgs() asks for no arguments where help is wanted", () => {
  assert.ok(readArgs(command, ["--help"]).has("help"));
  assert.ok(readArgs(command, ["-h"]).has("help"));
});

Deno.test("waitMs() takes 0 to 120 seconds and 60 where nothing is said", () => {
  const wait = (...args: string[]) => waitMs(readArgs(command, ["n", ...args]));
  assert.equal(wait(), 60_000);
  assert.equal(wait("--wait", "0"), 0);
  assert.equal(wait("--wait", "120"), 120_000);
  assert.equal(wait("--wait=0.25"), 250);
  for (const text of ["121", "120.1", "", "1e3", "0x10", "Infinity", "ten"]) {
    assert.throws(() => wait(`--wait=${text}`), refused(/0 to 120/), text);
  }
});

Deno.test("wholeNumber() takes whole numbers within its bounds only", () => {
  assert.equal(wholeNumber("15", "--uses", 1, 20), 15);
  for (const text of ["0", "21", "1.5", "-1", "", "1e1", " 1", "9999999999999999"]) {
    assert.throws(
      () => wholeNumber(text, "--uses", 1, 20),
      refused(/--uses takes a whole number from 1 to 20/),
      text,
    );
  }
});

Deno.test("toHandle() lets people leave custos: out", () => {
  assert.equal(toHandle("github"), "custos:github");
  assert.equal(toHandle("custos:github"), "custos:github");
});
