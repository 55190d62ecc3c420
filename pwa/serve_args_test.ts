import assert from "node:assert/strict";
import type { CustosError } from "@custos/core/errors";
import { readServeArgs, SERVE_HELP } from "./serve_args.ts";

const RELAY = ["--relay", "https://relay.example"];
const V4 = { hostname: "127.0.0.1", port: 8788, optional: false };
const V6 = { hostname: "::1", port: 8788, optional: true };

Deno.test("readServeArgs() listens on both addresses of localhost unless it is told otherwise", () => {
  assert.deepEqual(readServeArgs(RELAY), {
    listen: [V4, V6],
    relays: ["https://relay.example"],
    json: false,
  });
  assert.deepEqual(readServeArgs([...RELAY, "--listen", "localhost:0"])?.listen, [{ ...V4, port: 0 }]);
  assert.deepEqual(readServeArgs([...RELAY, "--listen", "127.0.0.1:1", "--listen=[::1]:2"])?.listen, [
    { ...V4, port: 1 },
    { ...V6, port: 2, optional: false },
  ]);
});

Deno.test("readServeArgs() takes several relays, and help before anything else", () => {
  const given = readServeArgs([...RELAY, "--relay=http://127.0.0.1:8787", "--json"]);
  assert.deepEqual(given?.relays, ["https://relay.example", "http://127.0.0.1:8787"]);
  assert.equal(given?.json, true);
  assert.equal(readServeArgs(["--help"]), null);
  for (const flag of ["--listen", "--relay", "--json", "--help"]) {
    assert.ok(SERVE_HELP.includes(`  ${flag} `), flag);
  }
});

const REFUSED: string[][] = [
  [],
  ["--relay"],
  ["--relay", ""],
  ["--relay", "relay.example"],
  ["--relay", "https://relay.example/"],
  ["--relay", "https://relay.example/path"],
  ["--relay", "https://RELAY.example"],
  ["--relay", "wss://relay.example"],
  ["--relay", "https://relay.example; script-src *"],
  ["--relay", "*"],
  [...RELAY, "--listen", "8788"],
  [...RELAY, "--listen", "localhost"],
  [...RELAY, "--listen", "localhost:70000"],
  [...RELAY, "--listen", "[::1:8788"],
  [...RELAY, "--root", "/etc"],
  [...RELAY, "index.html"],
];
for (const args of REFUSED) {
  Deno.test(`readServeArgs() refuses "${args.join(" ")}" and says what to do`, () => {
    assert.throws(() => readServeArgs(args), (error: CustosError) => {
      assert.equal(error.kind, "bad_request");
      assert.match(error.message, /Try --help/);
      return true;
    });
  });
}
