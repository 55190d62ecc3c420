import assert from "node:assert/strict";
import { HELP, parseRelayArguments } from "./options.ts";
import { StartError } from "./start_error.ts";

Deno.test("parseRelayArguments() needs only a folder", () => {
  assert.deepEqual(parseRelayArguments(["--data", "/var/lib/relay"]), {
    data: "/var/lib/relay",
    listen: [{ hostname: "127.0.0.1", port: 8787 }],
    origins: [],
    invite_file: null,
    proxy_hops: 0,
    limits: {},
    json: false,
  });
});

Deno.test("parseRelayArguments() reads every flag", () => {
  const args = "--data d --listen 127.0.0.1:0 --listen unix:/s --pwa-origin https://a.example " +
    "--pwa-origin http://localhost:4000 --invite-file i --proxy-hops 2 --limit mailboxes_max=7 --json";
  assert.deepEqual(parseRelayArguments(args.split(" ")), {
    data: "d",
    listen: [{ hostname: "127.0.0.1", port: 0 }, { path: "/s" }],
    origins: ["https://a.example", "http://localhost:4000"],
    invite_file: "i",
    proxy_hops: 2,
    limits: { mailboxes_max: 7 },
    json: true,
  });
});

Deno.test("parseRelayArguments() gives help instead of complaints", () => {
  assert.equal(parseRelayArguments(["--help"]), null);
  for (
    const flag of ["--data", "--listen", "--pwa-origin", "--invite-file", "--proxy-hops", "--limit", "--json"]
  ) {
    assert.ok(HELP.includes(`  ${flag} `), flag);
  }
});

const REFUSED: [string, RegExp][] = [
  ["", /--data DIR/],
  ["--data", /--help/],
  ["--data=", /--data DIR/],
  ["--data d extra", /--help/],
  ["--data d --unknown", /--help/],
  ["--data d --listen nowhere", /--listen takes/],
  ["--data d --pwa-origin https://a.example/", /--pwa-origin takes/],
  ["--data d --pwa-origin https://A.example", /--pwa-origin takes/],
  ["--data d --pwa-origin *", /--pwa-origin takes/],
  ["--data d --pwa-origin null", /--pwa-origin takes/],
  ["--data d --proxy-hops -1", /--proxy-hops/],
  ["--data d --proxy-hops one", /whole number/],
  ["--data d --limit mailboxes=7", /no limit mailboxes/],
  ["--data d --limit toString=7", /no limit toString/],
  ["--data d --limit mailboxes_max", /whole number/],
  ["--data d --limit mailboxes_max=0", /at least 1/],
];
for (const [args, reason] of REFUSED) {
  Deno.test(`parseRelayArguments() refuses "${args}" and says what to do`, () => {
    assert.throws(
      () => parseRelayArguments(args === "" ? [] : args.split(" ")),
      (error) => error instanceof StartError && error.exitCode === 2 && reason.test(error.message),
    );
  });
}
